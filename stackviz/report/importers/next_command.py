"""Which command to run next, by the words of a text in which nothing was recognised."""

import re

__all__ = ["COMMANDS", "command_for_words"]

COMMANDS = (
    (r"nvidia-container|docker|podman|containerd", "docker info"),
    (r"rocm|hip|amdgpu|radeon|instinct|gfx\d{3,4}", "rocminfo"),
    (r"wsl2?", "wsl --version"),
    (
        r"mps|metal|macos|macbook|apple|core ?ml|mlx",
        "system_profiler SPHardwareDataType SPDisplaysDataType SPSoftwareDataType",
    ),
    (
        r"torch|pytorch|torchvision|cudnn|triton|xformers|flash[-_]attn|bitsandbytes|vllm|xpu",
        "python -m torch.utils.collect_env",
    ),
    (r"nvidia|cuda|geforce|rtx|gtx|nvml|ollama|llama(?:\.cpp)?|ggml|tensorflow|jax|onnxruntime", "nvidia-smi"),
)
_WORDS = tuple(
    (re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])", re.IGNORECASE), command) for words, command in COMMANDS
)


def command_for_words(text: str) -> tuple[str, str]:
    """(the word as it is written, the command): `("ROCm", "rocminfo")`; two empty texts where no word tells.

    Searches all of the text, once for each command: who calls it bounds its length.
    """
    for pattern, command in _WORDS:
        if match := pattern.search(text):
            return match[0], command
    return "", ""
