"""Slugs of software in reports, those of the site's stack components, and which Python or conda package is which."""

import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["COMPONENTS", "PACKAGES", "PACKAGE_METADATA", "component_of", "version_with_build"]

_COMPONENTS = {
    # framework, compiler and what runs on them
    "python": "the Python interpreter",
    "pytorch": "the package torch",
    "torchinductor": "the default compiler of torch.compile",
    "triton": "the Triton kernel language and compiler",
    "mlx": "Apple's array framework",
    "coremltools": "converter to Core ML models",
    "jax": "JAX with jaxlib",
    "tensorflow": "TensorFlow",
    "onnxruntime": "ONNX Runtime",
    "transformers": "Hugging Face Transformers",
    "hf-accelerate": "Hugging Face Accelerate, the package accelerate",
    "vllm": "vLLM",
    "xformers": "xFormers",
    "flash-attn": "FlashAttention, the package flash-attn",
    "sageattention": "SageAttention",
    "bitsandbytes": "bitsandbytes",
    "torchvision": "TorchVision",
    "torchaudio": "TorchAudio",
    "onnxruntime-gpu": "ONNX Runtime's package with the CUDA provider",
    "jax-cuda-plugin": "JAX's CUDA plug-in: jax-cuda13-plugin 0.12.0 is version 0.12.0+cuda13",
    "jax-metal": "JAX's Metal plug-in",
    "tensorflow-metal": "TensorFlow's Metal plug-in",
    "llama-cpp": "llama.cpp with ggml",
    "pynvml": "the deprecated package pynvml",
    "nvidia-ml-py": "NVML's binding for Python",
    "numpy": "NumPy",
    "gcc": "the GNU compilers",
    "clang": "LLVM's C and C++ compiler",
    "cmake": "CMake",
    # libraries
    "cudnn": "NVIDIA deep learning primitives",
    "cublas": "NVIDIA dense linear algebra",
    "nccl": "NVIDIA collective communication",
    "cusparse": "NVIDIA sparse linear algebra",
    "cufft": "NVIDIA Fourier transforms",
    "cutlass": "NVIDIA matrix kernels as templates",
    "tensorrt": "NVIDIA inference compiler and runtime",
    "mpsgraph": "Metal Performance Shaders Graph",
    "mps-kernels": "Metal Performance Shaders, single kernels",
    "accelerate": "Apple Accelerate (BLAS, BNNS) on the CPU",
    "onednn": "oneDNN, torch.backends.mkldnn",
    "mkl": "Intel Math Kernel Library",
    "openblas": "OpenBLAS",
    "openmp": "the OpenMP runtime",
    # platform
    "cuda-runtime": "the CUDA runtime a framework was built with or loads",
    "cuda-toolkit": "an installed CUDA toolkit, as nvcc states it",
    "cuda-driver-api": "the newest CUDA version the driver supports",
    "metal": "Metal, the API",
    "mps": "torch's mps device and the framework under it",
    "rocm": "AMD ROCm with HIP",
    # driver
    "nvidia-driver": "the NVIDIA kernel driver",
    "metal-driver": "the GPU driver inside macOS",
    "amdgpu-driver": "the AMD kernel driver",
    # operating system
    "linux": "a Linux distribution with its kernel",
    "windows": "Microsoft Windows",
    "macos": "Apple macOS",
    "wsl": "the Windows Subsystem for Linux",
    # hardware (one per card)
    "hardware": "a card or chip",
}

COMPONENTS: Mapping[str, str] = MappingProxyType(_COMPONENTS)
"""Slug -> what it is."""


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
        "jax-cuda11-plugin": "jax-cuda-plugin",
        "jax-cuda12-plugin": "jax-cuda-plugin",
        "jax-cuda13-plugin": "jax-cuda-plugin",
        "tensorflow-cpu": "tensorflow",
        "tensorflow-gpu": "tensorflow",
        "tensorflow-macos": "tensorflow",
        "mlx-cuda": "mlx",
        "mlx-cuda-12": "mlx",
        "mlx-cuda-13": "mlx",
        "mkldnn": "onednn",
        "llvm-openmp": "openmp",
        "intel-openmp": "openmp",
        "libopenblas": "openblas",
    }
)
"""Package -> component, where the two names differ."""

_BUILDS: Mapping[str, str] = MappingProxyType(
    {
        "jax-cuda11-plugin": "cuda11",
        "jax-cuda12-plugin": "cuda12",
        "jax-cuda13-plugin": "cuda13",
        "mlx-cuda": "cuda12",
        "mlx-cuda-12": "cuda12",
        "mlx-cuda-13": "cuda13",
        "tensorflow-cpu": "cpu",
    }
)
"""Package -> its build, where each build of a component is a package."""

# Components that are no package, and packages of that name that are something else.
_SAME_NAME = frozenset(COMPONENTS) - {"accelerate", "linux", "windows", "macos", "metal", "mps", "hardware", "python"}
PACKAGES = frozenset(_OTHER_NAMES) | _SAME_NAME
"""All names that `component_of` knows."""
_FOR_CUDA = re.compile(r"-cu\d{1,3}$")
_LONGEST_NAME = 120


def component_of(package: str) -> str | None:
    """Return the component that a Python or conda package is; None for others."""
    name = _normalized(package)
    name = _FOR_CUDA.sub("", name) if name.startswith("nvidia-") else name
    return _OTHER_NAMES.get(name) or (name if name in _SAME_NAME else None)


def version_with_build(package: str, version: str) -> str:
    """Return the version with the build that the package's name says: jax-cuda13-plugin 0.12.0 is 0.12.0+cuda13."""
    build = _BUILDS.get(_normalized(package))
    return f"{version}+{build}" if build and "+" not in version else version


def _normalized(package: str) -> str:
    return package[:_LONGEST_NAME].lower().replace("_", "-")
