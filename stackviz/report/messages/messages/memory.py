"""Out of memory, on CUDA and on a Mac, with the figures in the message."""

from stackviz.report.messages.commands import BLOCKING_RUN, DMESG, NVIDIA_SMI
from stackviz.report.messages.symptom import Cause, Symptom

_SIZE = r"\d{1,7}(?:\.\d{1,4})? [KMGT]i?B"

SYMPTOMS = (
    Symptom(
        key="cuda-out-of-memory",
        message="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        patterns=(
            (
                rf"(?:CUDA|HIP|XPU) out of memory\. Tried to allocate (?P<message__oom_requested_bytes>{_SIZE})"
                rf"(?:.{{0,60}}?total capacity of (?P<message__oom_total_bytes>{_SIZE}))?"
                rf"(?: of which (?P<message__oom_free_bytes>{_SIZE}) is free)?"
                rf"(?:.{{0,400}}?this process has (?P<message__oom_process_bytes>{_SIZE}) memory in use)?"
                rf"(?:.{{0,400}}?(?P<message__oom_allocated_bytes>{_SIZE}) is allocated by PyTorch)?"
                rf"(?:,? and (?P<message__oom_reserved_bytes>{_SIZE}) is reserved by PyTorch but unallocated)?"
            ),
            (
                rf"(?:CUDA|HIP) out of memory\. Tried to allocate (?P<message__oom_requested_bytes>{_SIZE}) "
                rf"\(GPU \d{{1,2}}; "
                rf"(?P<message__oom_total_bytes>{_SIZE}) total capacity; "
                rf"(?P<message__oom_allocated_bytes>{_SIZE}) already allocated; "
                rf"(?P<message__oom_free_bytes>{_SIZE}) free"
                rf"(?:; (?P<message__oom_reserved_total_bytes>{_SIZE}) reserved in total by PyTorch)?"
            ),
            r"CUDA error: out of memory",
            r"cudaErrorMemoryAllocation",
            r"CUDA out of memory",
            (
                r"Allocation on device (?:\d{1,2} )?would exceed allowed memory\. \(out of memory\)"
                rf" Currently allocated : (?P<message__oom_allocated_bytes>{_SIZE})"
                rf" Requested : (?P<message__oom_requested_bytes>{_SIZE})"
                rf" Device limit : (?P<message__oom_total_bytes>{_SIZE})"
                rf" Free \(according to CUDA\): (?P<message__oom_free_bytes>0 bytes|{_SIZE})"
            ),
            r"OutOfMemoryError: Allocation on device",
            r"CUDA driver error: out of memory",
            r"CUDA failure 2: out of memory",
        ),
        anchors=("out of memory", "cudaerrormemoryallocation", "allocation on device"),
        component="pytorch",
        meaning="The card has no free memory left for what the program asks for.",
        causes=(
            Cause(
                text="The model, its cache or the batch needs more than the card has.",
                sign="What PyTorch has allocated is near the card's capacity.",
                remedy=(
                    "A smaller batch or context, a smaller precision, or a card with more memory: /fit/ works it out."
                ),
            ),
            Cause(
                text="Another program holds the memory.",
                sign="Little is free although PyTorch has allocated little.",
                remedy="nvidia-smi lists the programs; end those that are not needed.",
            ),
            Cause(
                text="The memory is fragmented.",
                sign="Much is reserved by PyTorch but unallocated.",
                remedy="export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (before the program starts)",
            ),
            Cause(
                text="The program keeps results on the card: losses or outputs with their graph.",
                sign="Memory grows from step to step.",
                remedy="Use loss.item() and torch.no_grad() where no gradient is needed.",
            ),
        ),
        ask=NVIDIA_SMI,
        rules=("out-of-memory",),
        source_title="PyTorch, CUDA semantics: memory management",
        source_url="https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management",
    ),
    Symptom(
        key="mps-out-of-memory",
        message=(
            "RuntimeError: MPS backend out of memory (MPS allocated: 17.20 GB, other allocations: 1.00 GB, max "
            "allowed: 18.13 GB)"
        ),
        patterns=(
            (
                rf"MPS backend out of memory(?: \(MPS allocated: (?P<message__oom_allocated_bytes>{_SIZE}), "
                rf"other allocations: (?P<message__oom_other_bytes>{_SIZE}), "
                rf"max allowed: (?P<message__oom_total_bytes>{_SIZE})\))?"
                rf"(?:\. Tried to allocate (?P<message__oom_requested_bytes>{_SIZE}))?"
            ),
        ),
        anchors=("mps backend out of memory",),
        component="mps",
        meaning=(
            "The GPU of a Mac shares the machine's memory and may use a part of it; the message names the limit as "
            "max allowed."
        ),
        causes=(
            Cause(
                text="The model, its cache or the batch needs more than the GPU may use.",
                sign="MPS allocated is near max allowed.",
                remedy="A smaller batch or context, or a smaller precision: /fit/ knows the limit of each Mac.",
            ),
            Cause(
                text="Other programs use the memory.",
                sign="Other allocations are large, or Activity Monitor shows memory pressure.",
                remedy="Close them.",
            ),
            Cause(
                text="The limit of PyTorch is lower than that of macOS.",
                sign="PYTORCH_MPS_HIGH_WATERMARK_RATIO is set below its default.",
                remedy="Unset it. A ratio of 0.0 removes the limit, and may make the whole machine unresponsive.",
            ),
        ),
        ask="system_profiler SPHardwareDataType SPDisplaysDataType",
        rules=("out-of-memory",),
        source_title="PyTorch, MPS environment variables",
        source_url="https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
    ),
    Symptom(
        key="illegal-memory-access",
        message="CUDA error: an illegal memory access was encountered",
        patterns=(
            r"an illegal memory access was encountered",
            r"cudaErrorIllegalAddress",
            r"CUDA error: (?:unspecified launch failure|misaligned address)",
        ),
        anchors=(
            "illegal memory access",
            "cudaerrorillegaladdress",
            "unspecified launch failure",
            "misaligned address",
        ),
        component="pytorch",
        meaning=(
            "A kernel read or wrote where it may not (errors 700, 716, 719). CUDA stays unusable in this "
            "process: every "
            "later call fails too, so the line that is named is often not the one at fault."
        ),
        causes=(
            Cause(
                text="A kernel of an extension has a fault, or does not suit the card or the release of torch.",
                sign=(
                    "It names flash-attn, xFormers, bitsandbytes or a custom kernel when run with "
                    "CUDA_LAUNCH_BLOCKING=1."
                ),
                remedy="Update or turn off that extension.",
            ),
            Cause(
                text="An index is out of range.",
                sign="The same code on the processor raises an IndexError.",
                remedy="Run it once on the processor.",
            ),
            Cause(
                text="The card is faulty or unstable.",
                sign="It happens at random places, and sudo dmesg shows Xid lines.",
                remedy="Undo overclocking; test the card.",
            ),
        ),
        ask=DMESG,
        source_title="CUDA Driver API, CUresult",
        source_url="https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html",
    ),
    Symptom(
        key="device-side-assert",
        message="CUDA error: device-side assert triggered",
        patterns=(r"device-side assert triggered", r"cudaErrorAssert\b"),
        anchors=("device-side assert", "cudaerrorassert"),
        component="pytorch",
        meaning=(
            "A kernel found a value that it may not be given (error 710). The machine is fine; CUDA reports "
            "it late, so "
            "the line that is named is often not the one at fault."
        ),
        causes=(
            Cause(
                text="A class number or token is not below the number of classes or the size of the vocabulary.",
                sign="The lines above name an index and an assertion such as t >= 0 && t < n_classes.",
                remedy="Check the labels; run once on the processor, which names the line.",
            ),
            Cause(
                text="A probability or input is NaN or out of range.",
                sign="The assertion names input_val, probability or nan.",
                remedy="Look for NaN in the inputs and the loss.",
            ),
        ),
        ask=BLOCKING_RUN,
        source_title="PyTorch, CUDA environment variables",
        source_url="https://docs.pytorch.org/docs/stable/cuda_environment_variables.html",
    ),
)
