"""Names of what a public host has installed: components and facts of a report, and software that only hosts name."""

from stackviz.report.format import COMPONENTS, FACTS

OTHER_SOFTWARE = {
    "cann": "Ascend CANN",
    "coreml": "Core ML",
    "cupy": "CuPy",
    "flashinfer": "FlashInfer",
    "ik-llama-cpp": "ik_llama.cpp",
    "ipex-llm": "IPEX-LLM",
    "jetpack": "JetPack",
    "l4t": "Jetson Linux",
    "linux-firmware": "linux-firmware",
    "llmfit": "llmfit",
    "macos-sdk": "macOS SDK",
    "mesa": "Mesa",
    "metal-toolchain": "Metal toolchain",
    "mlx-lm": "MLX LM",
    "mlx-swift-lm": "MLX Swift LM",
    "npu-smi": "npu-smi",
    "nvidia-smi": "nvidia-smi",
    "nvlink": "NVLink",
    "ollama": "Ollama",
    "omlx": "oMLX",
    "rapid-mlx": "Rapid-MLX",
    "sgl-kernel": "sgl-kernel",
    "sglang": "SGLang",
    "torchao": "torchao",
    "toshllm": "toshllm",
    "vllm-ascend": "vLLM Ascend",
    "vllm-xpu-kernels": "vLLM XPU kernels",
    "vulkan": "Vulkan",
    "xcode": "Xcode",
}
"""Name -> title, of what a report has no component for."""


def is_software_name(name: str) -> bool:
    """Return whether a host's software may have this name."""
    return name in COMPONENTS or name in FACTS or name in OTHER_SOFTWARE
