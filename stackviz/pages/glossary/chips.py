"""The units accelerators are built of, and the letters they go by."""

from django.utils.translation import gettext_lazy as _

from stackviz.pages.glossary.terms import Chapter, Term

CHIPS = Chapter(
    "chips",
    _("Chips and their units"),
    (
        Term(
            "tensor-core",
            _("Tensor core"),
            _(
                "A unit that multiplies small matrices and adds up the products in one instruction. NVIDIA has "
                "built them in since Volta (2017); AMD calls them matrix cores, Intel XMX, Google the MXU, Apple "
                "neural accelerators (in the GPU, since M5). The rates called “tensor” on this site count only "
                "work that fits them."
            ),
            "NVIDIA Tesla V100 GPU Architecture",
            "https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf",
        ),
        Term(
            "sm",
            _("SM, compute unit, GPU core"),
            _(
                "The block a GPU is built of: schedulers, registers, some lanes and a small memory. NVIDIA says "
                "streaming multiprocessor, AMD compute unit, Apple GPU core, Intel Xe core. “CUDA cores” are the "
                "fp32 lanes inside; a block of one maker is not worth one of another."
            ),
            "NVIDIA: CUDA C++ Programming Guide",
            "https://docs.nvidia.com/cuda/cuda-c-programming-guide/",
        ),
        Term(
            "neural-engine",
            _("Neural Engine (ANE)"),
            _(
                "Apple's unit for neural networks beside CPU and GPU. Programs reach it through Core ML, for "
                "inference; PyTorch's mps device is the GPU. Apple gives its rate in TOPS without always naming "
                "the number format, so it is not held against rates of GPUs."
            ),
            "Apple Machine Learning Research: Deploying Transformers on the Apple Neural Engine",
            "https://machinelearning.apple.com/research/neural-engine-transformers",
        ),
        Term(
            "processing-units",
            _("TPU, NPU, LPU, IPU, DPU, BPU"),
            _(
                "TPU: Google's tensor processor for training and inference. NPU: any unit for neural networks, "
                "mostly in phones and laptops; Huawei uses it for Ascend. LPU: Groq's processor for inference, "
                "with all its memory on the chip. IPU: Graphcore's. DPU: a network card with processors, such as "
                "NVIDIA's BlueField; it moves data and computes no models. BPU: Horizon Robotics' unit in cars. "
                "The letters are names of makers, not of a kind of design."
            ),
            "Google Cloud: TPU architecture",
            "https://cloud.google.com/tpu/docs/system-architecture-tpu-vm",
        ),
        Term(
            "memory-types",
            _("HBM, GDDR, LPDDR, SRAM"),
            _(
                "HBM is stacked beside the chip on a very wide bus: the most bytes a second, on data-centre "
                "cards. GDDR sits around the chip on a narrower, faster bus. LPDDR is what phones and Apple's "
                "chips use: thrifty, and large. SRAM is on the chip itself: the fastest and the smallest, "
                "hundreds of MB where others have GB."
            ),
            "JEDEC: standards",
            "https://www.jedec.org/standards-documents",
        ),
        Term(
            "cache",
            _("L2 and system level cache"),
            _(
                "Memory on the chip in front of the large one. What fits is read several times faster; a "
                "benchmark of memory must therefore be larger than it. On Apple chips the system level cache is "
                "shared by CPU, GPU and Neural Engine."
            ),
            "NVIDIA: CUDA C++ Programming Guide, memory hierarchy",
            "https://docs.nvidia.com/cuda/cuda-c-programming-guide/",
        ),
        Term(
            "links",
            _("PCIe, NVLink, Infinity Fabric"),
            _(
                "How data comes to a card and from card to card. PCI Express joins card and host: about 32 GB/s "
                "each way for generation 4 with 16 lanes, 64 for generation 5. NVLink, Infinity Fabric and ICI "
                "join accelerators to each other, several times faster. Makers mostly print both directions "
                "together."
            ),
            "NVIDIA NVLink and NVLink Switch",
            "https://www.nvidia.com/en-us/data-center/nvlink/",
        ),
        Term(
            "board-power",
            _("Board power and power limit"),
            _(
                "The maker's figure (TDP, TGP, board power) says what cooling and supply are made for. The limit "
                "in a machine can be set lower or higher, and a report carries it. A chip's power (Apple "
                "publishes none) is not a machine's at the wall."
            ),
            "NVIDIA NVML: power management limit",
            "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html",
        ),
    ),
)
