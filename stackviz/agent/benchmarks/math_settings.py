"""What torch is set to when it multiplies: libraries, accumulation, determinism, and what the environment says to them.

Read for each result, because any of it makes figures that are not comparable.
"""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

__all__ = ["math_settings"]

_VARIABLES = (
    "OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_NUM_THREADS", "MKL_DYNAMIC", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR",
    "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "VECLIB_MAXIMUM_THREADS",
    "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "TORCH_BLAS_PREFER_CUBLASLT",
    "CUDA_LAUNCH_BLOCKING", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "TORCH_CUDNN_V8_API_DISABLED", "TORCH_BLAS_PREFER_HIPBLASLT", "ROCBLAS_LAYER", "HIPBLASLT_TENSILE_LIBPATH",
    "HSA_OVERRIDE_GFX_VERSION", "AMD_SERIALIZE_KERNEL", "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "PYTORCH_MPS_FAST_MATH",
)  # fmt: skip
_PLAIN_VALUE = re.compile(r"[\w.,:;=+{}()\[\]-]{1,80}")


def math_settings(torch: Any, kind: str, dtype: str) -> dict[str, str | bool]:  # noqa: ANN401 - torch has no types here
    """What can be read of this torch, for products of this type on this kind of device; the rest is left out."""
    settings: dict[str, str | bool] = {}
    for name, ask in (_ON_CARDS if kind == "cuda" else _ON_PROCESSORS).items():
        with suppress(Exception):  # each version of torch has others
            settings[name] = ask(torch)
    with suppress(Exception):
        settings["deterministic"] = bool(torch.are_deterministic_algorithms_enabled())
    if kind == "cuda" and dtype in {"fp16", "bf16"}:
        with suppress(Exception):
            allowed = getattr(torch.backends.cuda.matmul, f"allow_{dtype}_reduced_precision_reduction")
            settings["reduced_precision_reduction"] = bool(allowed[0] if isinstance(allowed, tuple) else allowed)
    settings["math_environment"] = _environment(os.environ)
    return settings


def _environment(environment: Mapping[str, str]) -> str:
    """`OMP_NUM_THREADS=8 MKL_DYNAMIC=FALSE`, "none"; a value that is a path, or odd, is not sent."""
    values = {name: environment[name] for name in _VARIABLES if environment.get(name)}
    return " ".join(f"{name}={_plain(value)}" for name, value in values.items()) or "none"


def _plain(value: str) -> str:
    return value if _PLAIN_VALUE.fullmatch(value) else "(set)"


def _processor_blas(torch: Any) -> str:  # noqa: ANN401 - torch has no types here
    """`mkl, onednn`: torch.__config__ names the library it was built with."""
    built = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    libraries = [built[1]] if built else []
    if torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled:
        libraries.append("onednn")
    return ", ".join(libraries) or "unknown"


def _cuda_blas(torch: Any) -> str:  # noqa: ANN401
    return str(torch.backends.cuda.preferred_blas_library()).rpartition(".")[2].lower()


_ON_CARDS: dict[str, Callable[[Any], str | bool]] = {
    "blas_library": _cuda_blas,
    "fp16_accumulation": lambda torch: bool(torch.backends.cuda.matmul.allow_fp16_accumulation),
    "cudnn_benchmark": lambda torch: bool(torch.backends.cudnn.benchmark),
    "cudnn_deterministic": lambda torch: bool(torch.backends.cudnn.deterministic),
}
_ON_PROCESSORS: dict[str, Callable[[Any], str | bool]] = {"blas_library": _processor_blas}
