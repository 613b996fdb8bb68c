"""The words a newcomer may not know, a few sentences each, with sources. Text only.

A "?" beside a term on any page leads here: `{% help "dense" %}` -> /learn/#dense. A test holds that every anchor used
in a template exists. Terms that are the site's own need no source; everything else names one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Term:
    """One entry. `anchor` never changes: links from outside point to it."""

    anchor: str
    title: str | Promise
    text: str | Promise
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """Entries that are read together."""

    anchor: str
    title: str | Promise
    terms: Sequence[Term]


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
                "supported”, “not measured yet” or “withheld”, and takes no part in a factor or ranking."
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
                "and “FLOPS” (a rate) differ by one letter's case, so this site writes FLOP and FLOP/s. A fused "
                "multiply-add counts as two operations; the product of an m×k and a k×n matrix is 2·m·n·k FLOP."
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
    ),
)

TYPES = Chapter(
    "types",
    _("Number types"),
    (
        Term(
            "fp32",
            "FP32, FP64",
            _(
                "IEEE 754 single and double precision: 1 sign bit, 8 or 11 bits of exponent, 23 or 52 of fraction. "
                "FP32 is PyTorch's default type; many accelerators do FP64 slowly or, as Apple's GPUs, not at all."
            ),
            "IEEE 754-2019",
            "https://doi.org/10.1109/IEEESTD.2019.8766229",
        ),
        Term(
            "tf32",
            "TF32",
            _(
                "Not a storage type: FP32 inputs whose fraction is cut to 10 bits inside NVIDIA's tensor cores, with "
                "an FP32 sum. Much faster than FP32, about as accurate as FP16. Whether PyTorch may use it is a "
                "setting, and a result says which was in force."
            ),
            "PyTorch: CUDA semantics",
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
        Term(
            "bf16",
            "BF16, FP16",
            _(
                "Two 16-bit types. BF16 has FP32's 8 bits of exponent and 7 of fraction: the same range, less "
                "precision. FP16 has 5 and 10: more precision, and overflow beyond 65,504. Training mostly uses BF16."
            ),
            "Google Cloud TPU: bfloat16",
            "https://cloud.google.com/tpu/docs/bfloat16",
        ),
        Term(
            "fp8",
            "FP8, FP4, INT8",
            _(
                "Types of 8 or 4 bits. FP8 comes as E4M3 (more precision) and E5M2 (more range); narrower ones need a "
                "scale factor kept beside a block of values. Peaks in TOPS are integer operations and are not FLOP/s."
            ),
            "Micikevicius et al., FP8 Formats for Deep Learning, 2022",
            "https://arxiv.org/abs/2209.05433",
        ),
    ),
)

MACHINES = Chapter(
    "machines",
    _("Machines and memory"),
    (
        Term(
            "unified-memory",
            _("Unified memory"),
            _(
                "CPU and GPU share one memory, as on Apple silicon, instead of the card having its own. Not all of it "
                "is the GPU's: macOS recommends a working set of about two thirds to three quarters, and a report "
                "carries the limit the machine stated. A discrete card's memory is its own, and data must cross a bus "
                "to it."
            ),
            "Apple: MTLDevice recommendedMaxWorkingSetSize",
            "https://developer.apple.com/documentation/metal/mtldevice/recommendedmaxworkingsetsize",
        ),
        Term(
            "compute-capability",
            _("Compute capability"),
            _(
                "NVIDIA's version number of a GPU's instruction set, 9.0 for Hopper, also written sm_90. A PyTorch "
                "build carries kernels for a list of them. It is not the CUDA version, which is the version of the "
                "software."
            ),
            "NVIDIA: CUDA GPU compute capability",
            "https://developer.nvidia.com/cuda-gpus",
        ),
        Term(
            "mig",
            "MIG",
            _(
                "Multi-Instance GPU: one card cut into up to seven slices with their own memory and units. A slice is "
                "not held against the whole card's peak."
            ),
            "NVIDIA Multi-Instance GPU user guide",
            "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",
        ),
        Term(
            "throttling",
            _("Throttling"),
            _(
                "The driver lowers the clock to stay within a power limit or temperature. The reasons it states are "
                "kept with each result, because a figure measured while throttled describes the cooling, not the chip."
            ),
            "NVIDIA NVML: clocks event reasons",
            "https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html",
        ),
        Term(
            "utilization",
            _("Utilization and occupancy"),
            _(
                "The driver's “utilization” is the share of time in which at least one kernel ran: 100 % may still "
                "leave most of the chip idle. Occupancy is how many threads are resident on a unit against the most "
                "it can hold. Neither says how near a program is to the peak."
            ),
            "PyTorch: torch.cuda.utilization",
            "https://docs.pytorch.org/docs/stable/generated/torch.cuda.utilization.html",
        ),
        Term(
            "fallback",
            _("Fallback to the CPU"),
            _(
                "An operator without a kernel for the Mac's GPU stops with an error, or runs on the CPU if "
                "PYTORCH_ENABLE_MPS_FALLBACK=1 is set: slower, and easy to miss. A result says when it happened."
            ),
            "PyTorch: MPS environment variables",
            "https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
        ),
    ),
)

STACKS = Chapter(
    "stacks",
    _("Stacks"),
    (
        Term(
            "stack",
            _("Stack and layers"),
            _(
                "All software between a program and the silicon. This site draws every stack on the same eight "
                "layers: application, framework, compiler, libraries, compute platform, driver, operating system, "
                "hardware."
            ),
        ),
        Term(
            "counterpart",
            _("Counterpart"),
            _(
                "The component that plays the same role on another stack: MPSGraph for cuDNN, Metal for CUDA. Same "
                "row, same job, not the same thing: what differs is said beside it. Some have none, such as NCCL on a "
                "Mac."
            ),
        ),
        Term(
            "finding",
            _("Finding"),
            _(
                "What a rule says about a machine's stack, with the facts it rests on, an explanation, what to do and "
                "a source. Broken: it cannot work. Warning: it works until it does not. Note: good to know. Cannot "
                "tell: the machine did not report what the rule needs."
            ),
        ),
    ),
)

MEASURING = Chapter(
    "measuring",
    _("Measuring"),
    (
        Term(
            "median",
            _("Median and interval"),
            _(
                "Each benchmark runs many times; every sample is kept. The figure shown is the median; the interval "
                "is where the true median lies with 95 % confidence, from the ranks of the samples, whatever their "
                "distribution. Under six samples there is no such interval, and none is shown."
            ),
            "Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2",
        ),
        Term(
            "noisy",
            _("Noisy"),
            _(
                "The middle half of the samples spreads over more than a tenth of the median: something else was "
                "running, or the clock moved. The figure is shown, and said to be noisy."
            ),
            "PyTorch: torch.utils.benchmark",
            "https://docs.pytorch.org/docs/stable/benchmark_utils.html",
        ),
        Term(
            "comparable",
            _("Comparable"),
            _(
                "Two results are compared only if they ran the same benchmark, version and parameters. Other torch "
                "versions, power limits, throttling or fallback are named beside the comparison. “Cannot tell” is an "
                "answer."
            ),
        ),
    ),
)

CHAPTERS: Sequence[Chapter] = (FIGURES, TYPES, MACHINES, STACKS, MEASURING)
