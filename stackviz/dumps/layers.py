"""The layer each component is drawn on, for those who have no database. A test holds it equal to the site's data."""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["LAYERS", "LAYER_TITLES", "layer_of"]

LAYERS: Mapping[str, str] = MappingProxyType(
    {
        "application": "python transformers hf-accelerate vllm llama-cpp torchvision torchaudio",
        "framework": "pytorch mlx jax tensorflow onnxruntime jax-metal jax-cuda-plugin tensorflow-metal"
        " onnxruntime-gpu",
        "compiler": "torchinductor triton coremltools tensorrt gcc clang cmake",
        "library": "numpy cudnn cublas nccl cusparse cufft cutlass mpsgraph mps-kernels accelerate onednn mkl openblas"
        " xformers flash-attn bitsandbytes",
        "platform": "openmp cuda-runtime cuda-toolkit cuda-driver-api metal mps rocm",
        "driver": "nvidia-driver metal-driver amdgpu-driver pynvml nvidia-ml-py",
        "os": "linux windows macos wsl",
        "hardware": "hardware",
    }
)
"""Layer, top to bottom -> the components on it, space separated."""

LAYER_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "application": "Application",
        "framework": "Framework",
        "compiler": "Compiler",
        "library": "Libraries",
        "platform": "Compute platform",
        "driver": "Driver",
        "os": "Operating system",
        "hardware": "Hardware",
    }
)
"""As the site writes them where nothing is translated: the agent cannot ask it. A test holds the two equal."""

_LAYER_OF = {component: layer for layer, components in LAYERS.items() for component in components.split()}


def layer_of(component: str) -> str | None:
    """The layer's name; None for a component nobody described."""
    return _LAYER_OF.get(component)
