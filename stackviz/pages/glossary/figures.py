"""How to read a figure."""

from django.utils.translation import gettext_lazy as _

from stackviz.pages.glossary.terms import Chapter, Term

FIGURES = Chapter(
    "reading-figures",
    _("Reading the figures"),
    (
        Term(
            "kinds",
            _("Published, probed, measured, derived"),
            _(
                "The four kinds of figure on this site, never mixed in one bar or column without saying so. "
                "Published: a maker's or third party's figure, with its source and condition. Probed: the machine "
                "said so, asked by the agent. Measured: the agent timed it. Derived: computed here from other "
                "figures, formula shown."
            ),
        ),
        Term(
            "unknown",
            _("Missing figures"),
            _(
                "What is not known is never shown as 0 or left blank: it says “not published”, “not reported”, “not "
                "supported”, “not measured yet” or “withheld”, and takes no part in a factor or ranking. “Not "
                "published” means that no source read for this catalogue prints the figure; its maker may do so "
                "elsewhere. Whoever has such a source can tell us."
            ),
        ),
        Term(
            "gb-gib",
            _("GB and GiB"),
            _(
                "1 GB is 10⁹ bytes, 1 GiB is 2³⁰ = 1,073,741,824 bytes, 7.4 % more. Makers print bandwidth in GB/s "
                "and call memory of 80 GiB “80 GB”; systems count in GiB. A sheet shows what the maker prints; a "
                "machine's memory is shown in GiB."
            ),
            "NIST Reference on Constants, Units and Uncertainty: prefixes for binary multiples",
            "https://physics.nist.gov/cuu/Units/binary.html",
        ),
        Term(
            "flops",
            _("FLOPs and FLOPS"),
            _(
                "FLOP counts floating-point operations; FLOP/s is how many are done in a second. “FLOPs” (a count) "
                "and “FLOPS” (a rate) differ by one letter's case: here a count is written FLOP, and TFLOPS beside "
                "a figure is always a rate, 10¹² FLOP/s. A fused multiply-add counts as two operations; the "
                "product of an m×k and a k×n matrix is 2·m·n·k FLOP."
            ),
            "LAPACK Working Note 41, operation counts",
            "https://www.netlib.org/lapack/lawnspdf/lawn41.pdf",
        ),
        Term(
            "peak",
            _("Peak"),
            _(
                "The most the arithmetic units could do if every one of them worked in every clock: units × "
                "operations per clock × clock. It bounds a measurement from above; real programs reach a share of it, "
                "and that share is what this site shows beside a measured figure."
            ),
            "Roofline: an insightful visual performance model, Communications of the ACM 52(4), 2009",
            "https://doi.org/10.1145/1498765.1498785",
        ),
        Term(
            "dense",
            _("Dense and sparse"),
            _(
                "From Ampere on, NVIDIA's tensor cores skip zeros when at least two of every four neighbouring "
                "weights are zero, and data sheets print the doubled rate “with sparsity”. Ordinary matrices are "
                "dense and reach half of it. A sparse figure is never compared with a dense one here: the condition "
                "is part of the row."
            ),
            "Mishra et al., Accelerating Sparse Deep Neural Networks, 2021",
            "https://arxiv.org/abs/2104.08378",
        ),
        Term(
            "accumulate",
            _("Accumulate type"),
            _(
                "A matrix product adds thousands of small products. The type of that running sum may be wider than "
                "the inputs: fp16 inputs with an fp32 sum keep more accuracy, and on GeForce cards run at half the "
                "rate of an fp16 sum. A published peak is only comparable with its accumulate type."
            ),
            "NVIDIA Ada GPU architecture white paper",
            "https://images.nvidia.com/aem-dam/Solutions/Data-Center/l4/nvidia-ada-gpu-architecture-whitepaper-v2.1.pdf",
        ),
        Term(
            "boost",
            _("Base and boost clock"),
            _(
                "Base is the clock the maker promises under load, boost the highest it expects when power and "
                "temperature allow. Peaks are nearly always given at boost; a card that is hot or capped runs below."
            ),
            "NVIDIA Ada GPU architecture white paper, notes under the tables of peaks",
            "https://images.nvidia.com/aem-dam/Solutions/Data-Center/l4/nvidia-ada-gpu-architecture-whitepaper-v2.1.pdf",
        ),
        Term(
            "direction",
            _("One way and both ways"),
            _(
                "A link carries data in both directions at once, and makers print either figure: NVLink's 900 GB/s on "
                "an H100 is both directions together, 450 GB/s each way. The direction is part of the condition here."
            ),
            "NVIDIA H100 data sheet",
            "https://www.nvidia.com/en-us/data-center/h100/",
        ),
        Term(
            "bandwidth",
            _("Memory bandwidth"),
            _(
                "How many bytes per second pass between a chip and its memory: bus width × transfers per second. It "
                "bounds everything that touches much data and computes little, such as generating text one token at a "
                "time. Copying moves each byte twice, once read and once written, and is counted so here."
            ),
            "STREAM benchmark: counting bytes and FLOP",
            "https://www.cs.virginia.edu/stream/ref.html",
        ),
        Term(
            "roofline",
            _("Roofline"),
            _(
                "One picture of what bounds a program: to the left memory bandwidth, to the right peak arithmetic. "
                "The ridge where they meet, peak ÷ bandwidth in FLOP per byte, says how much a program must compute "
                "with each byte before arithmetic becomes the limit."
            ),
            "Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009",
            "https://doi.org/10.1145/1498765.1498785",
        ),
        Term(
            "ridge-point",
            _("Ridge point"),
            _(
                "How many operations a program must do per byte it reads before compute, not memory, limits it: "
                "the peak rate divided by the memory bandwidth, in FLOP per byte. 295 for an H100 SXM in bf16. "
                "Reading a model's weights once per token is near 1, so writing text is limited by memory."
            ),
            "Williams, Waterman, Patterson, Roofline, 2009",
            "https://doi.org/10.1145/1498765.1498785",
        ),
        Term(
            "tops",
            "TOPS",
            _(
                "Trillions of operations a second, mostly 8-bit integer ones. Makers differ in what they count: "
                "sparse or dense, 4 or 8 bits, GPU and other units together. Without these conditions two figures "
                "in TOPS say nothing about each other."
            ),
            "NVIDIA RTX Blackwell GPU Architecture",
            "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
        ),
        Term(
            "basis",
            _("How a figure came about"),
            _(
                "Beside a published figure may stand: derived (computed from others of its source, the note has "
                "the formula), probed (read from a real card), measured (by somebody who says how), inferred (the "
                "source implies it without printing it). Without a word it is printed by the source."
            ),
        ),
        Term(
            "correction",
            _("Corrections and past states"),
            _(
                "A value changes only with a reason and after somebody checked it. What it was before stays in "
                "its history, the public change log lists every change, and an address with a date shows a sheet "
                "as it stood."
            ),
        ),
    ),
)
