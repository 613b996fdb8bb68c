"""What chips, memories and drivers do."""

from django.utils.translation import gettext_lazy as _

from stackviz.pages.glossary.terms import Chapter, Term

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
            _("Utilization, occupancy, saturation"),
            _(
                "Utilization, as the driver reports it, is the share of time in which at least one kernel ran: 100 % "
                "may still leave most of the chip idle. Occupancy is how many threads are resident on a unit against "
                "the most it can hold; more of them hide waiting, beyond some they help no more. Saturation is work "
                "that waits because there is no room: memory that is full, a queue that grows. None of the three says "
                "how near a program is to the peak."
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
