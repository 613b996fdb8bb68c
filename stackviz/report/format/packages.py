"""Which component a Python or conda package is: one table for the agent's own look and for every tool's list."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from stackviz.report.format.components import COMPONENTS

__all__ = ["PACKAGES", "PACKAGE_METADATA", "component_of"]

PACKAGE_METADATA = "package metadata"
"""`found_by` of an agent that looked through all installed packages: what it does not name is not installed."""

_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "torch": "pytorch",
        "pytorch-triton": "triton",
        "pytorch-triton-rocm": "triton",
        "pytorch-triton-xpu": "triton",
        "triton-windows": "triton",
        "accelerate": "hf-accelerate",
        "cudatoolkit": "cuda-runtime",
        "cuda-cudart": "cuda-runtime",
        "nvidia-cuda-runtime": "cuda-runtime",
        "nvidia-cublas": "cublas",
        "nvidia-cudnn": "cudnn",
        "nvidia-cufft": "cufft",
        "nvidia-cusparse": "cusparse",
        "nvidia-cutlass-dsl": "cutlass",
        "nvidia-nccl": "nccl",
        "jaxlib": "jax",
        "jax-cuda12-plugin": "jax-cuda-plugin",
        "jax-cuda13-plugin": "jax-cuda-plugin",
        "tensorflow-cpu": "tensorflow",
        "tensorflow-gpu": "tensorflow",
        "tensorflow-macos": "tensorflow",
        "mkldnn": "onednn",
        "llvm-openmp": "openmp",
        "intel-openmp": "openmp",
        "libopenblas": "openblas",
    }
)
"""Package -> component, where the two names differ."""

# Components that are no package, and packages of that name that are something else.
_SAME_NAME = frozenset(COMPONENTS) - {"accelerate", "linux", "windows", "macos", "metal", "mps", "hardware", "python"}
PACKAGES = frozenset(_OTHER_NAMES) | _SAME_NAME
"""All names that `component_of` knows."""
_FOR_CUDA = re.compile(r"-cu\d{1,3}$")
_LONGEST_NAME = 120


def component_of(package: str) -> str | None:
    """The component a Python or conda package is; None where it is none of ours."""
    name = package[:_LONGEST_NAME].lower().replace("_", "-")
    name = _FOR_CUDA.sub("", name) if name.startswith("nvidia-") else name
    return _OTHER_NAMES.get(name) or (name if name in _SAME_NAME else None)
