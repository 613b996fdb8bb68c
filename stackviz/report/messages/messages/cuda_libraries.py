"""Status codes of cuBLAS, cuDNN and the other libraries of CUDA: a message for each kind of fault."""

from stackviz.report.messages.commands import BLOCKING_RUN, COLLECT_ENV, NVIDIA_SMI
from stackviz.report.messages.messages import cuda_start, libraries
from stackviz.report.messages.messages.cuda_codes import BUILT_WITHOUT, EARLIER, FULL, VERSIONS, WRONG_CALL
from stackviz.report.messages.symptom import Cause, Family, coded, table_rows, text_pattern
from stackviz.report.messages.tables import code_members

_LIBRARIES = ("CUDA Toolkit documentation: the libraries", "https://docs.nvidia.com/cuda/")

_SYMPTOMS = (
    coded(
        "library-start",
        "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        "A library of CUDA could not set itself up on the card.",
        (FULL, VERSIONS, EARLIER),
        NVIDIA_SMI,
        "cuda-runtime",
        _LIBRARIES,
    ),
    coded(
        "library-memory",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "A library of CUDA got no memory for its own work.",
        (
            FULL,
            Cause(
                text="Torch holds the memory that the library needs.",
                sign="It fails at the first step of a large model.",
                remedy="A smaller batch; in vLLM a lower gpu_memory_utilization.",
            ),
        ),
        NVIDIA_SMI,
        "cuda-runtime",
        _LIBRARIES,
    ),
    coded(
        "library-architecture",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ARCH_MISMATCH",
        "A library of CUDA has no code for this card.",
        (
            Cause(
                text="The card is older than what this release of the library supports, or newer than it knows.",
                sign="nvidia-smi -q names the card; the notes of the release list the cards.",
                remedy="Use the release that lists the card, with a torch that brings it.",
            ),
            BUILT_WITHOUT,
        ),
        COLLECT_ENV,
        "cuda-runtime",
        _LIBRARIES,
    ),
    coded(
        "library-support",
        "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED",
        "A library of CUDA has no way to do this on this card: for the type, shape or layout that it was given.",
        (
            Cause(
                text="The tensors are not contiguous, or of a type or size that the library does not take.",
                sign="It comes with one layer or shape only.",
                remedy="Call .contiguous() on the input, try another type, or torch.backends.cudnn.enabled = False.",
            ),
            VERSIONS,
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _LIBRARIES,
    ),
    coded(
        "library-execution",
        "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "A library of CUDA failed while its kernel ran.",
        (
            EARLIER,
            FULL,
            VERSIONS,
            Cause(
                text="The card is faulty or unstable.",
                sign="It happens at random places, and sudo dmesg shows Xid lines.",
                remedy="Undo overclocking; test the card.",
            ),
        ),
        BLOCKING_RUN,
        "cuda-runtime",
        _LIBRARIES,
    ),
    coded(
        "library-usage",
        "RuntimeError: cuDNN error: CUDNN_STATUS_BAD_PARAM",
        "A library of CUDA was called in a way that it does not allow. Card and driver are in order.",
        (WRONG_CALL, VERSIONS),
        BLOCKING_RUN,
        "cuda-runtime",
        _LIBRARIES,
    ),
)
_KNOWN = {symptom.key: symptom for symptom in (*_SYMPTOMS, *libraries.SYMPTOMS, *cuda_start.SYMPTOMS)}
_ROWS = table_rows("cuda_libraries")

FAMILIES = (
    Family(
        patterns=(rf"\b(?P<code>{text_pattern(row['name'] for row in _ROWS)})",),
        anchors=(
            *("cudnn_status_", "cublas_status_", "cusolver_status_", "cusparse_status_", "curand_status_"),
            *("cutensor_status_", "cufft_", "nvrtc_error_"),
        ),
        members=code_members("cuda_libraries", _KNOWN, ["name"]),
    ),
)
