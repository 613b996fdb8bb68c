"""Programs and families of programs whose errors people paste: how they are recognised, what to know, what to run.

For lines that no message explains, and texts in which nothing was recognised. Standard library only.
"""

import re
from dataclasses import dataclass

from stackviz.base.sentence import say
from stackviz.report.messages.commands import COLLECT_ENV, DKMS_STATUS, DMESG, MAC_HARDWARE, NVIDIA_SMI, ROCMINFO

__all__ = ["NAMED_PROGRAMS", "PROGRAMS_BY_KEY", "NamedProgram", "program_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedProgram:
    """One program or family. `words`: a regular expression of whole words. `component`: what its faults are of.

    `known`: what helps with most of its errors, in a sentence. `ask`: the one command that tells more.
    """

    key: str
    name: str
    words: str
    component: str
    known: str
    ask: str
    source_title: str
    source_url: str


NAMED_PROGRAMS = (
    NamedProgram(
        key="container",
        name="Docker",
        words=r"nvidia-(?:container\w*|ctk|docker)|libnvidia-container|docker\w*|podman|containerd|runc|OCI runtime|k8s"
        r"|kube\w*|k3s|device[- ]plugin|gpu-operator|nvidia\.com/gpu|apptainer|singularity|enroot",
        component="linux",
        known=say(
            "A container has the driver of its host: it gets the cards by the container toolkit, and only where the "
            "runtime is configured for them."
        ),
        ask="docker info",
        source_title="NVIDIA Container Toolkit, troubleshooting",
        source_url="https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html",
    ),
    NamedProgram(
        key="dkms",
        name="dkms",
        words=r"dkms|modprobe|insmod|depmod|mokutil|initramfs|dracut|apt-get|dpkg|dnf|pacman|zypper",
        component="linux",
        known=say("A kernel module is built for one kernel: each new kernel needs its headers and a new build."),
        ask=DKMS_STATUS,
        source_title="NVIDIA, Driver Installation Guide",
        source_url="https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
    ),
    NamedProgram(
        key="nvidia-kernel",
        name="NVIDIA's kernel driver",
        words=r"NVRM|Xid|SXid|nvidia-(?:modeset|uvm|drm|persistenced|fabricmanager)|nvidia_(?:uvm|drm|modeset)"
        r"|nouveau|nvlddmkm(?:\.sys)?|nvkms|RmInitAdapter|GSP|NVLink|NVSwitch",
        component="nvidia-driver",
        known=say("The kernel's log is where the driver says why it gave up a card; the first such line matters most."),
        ask=DMESG,
        source_title="NVIDIA, Xid errors",
        source_url="https://docs.nvidia.com/deploy/xid-errors/",
    ),
    NamedProgram(
        key="amd-kernel",
        name="AMD's kernel driver",
        words=r"amdgpu|amdkfd|kfd|radeon_\w+|amd-smi|rocm-smi|smu|atombios",
        component="amdgpu-driver",
        known=say("After a hang the amdgpu driver resets the card; programs that used it have to be started again."),
        ask=ROCMINFO,
        source_title="Linux kernel, amdgpu",
        source_url="https://docs.kernel.org/gpu/amdgpu/index.html",
    ),
    NamedProgram(
        key="intel",
        name="Intel's GPU stack",
        words=r"i915|xe \d[\w:.]*|level[- _]?zero|ze\w*_(?:result|init|loader)\w*|ZE_RESULT_\w+|UR_RESULT_\w+|UR error"
        r"|PI_ERROR_\w+|sycl\w*|oneapi|dpcpp|icpx|xpu\w*|ipex|openvino|intel_extension_for_pytorch",
        component="pytorch",
        known=say("torch reaches an Intel GPU as `xpu`, by Level Zero and the compute runtime of Intel's driver."),
        ask="xpu-smi discovery",
        source_title="PyTorch, Intel GPUs",
        source_url="https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html",
    ),
    NamedProgram(
        key="vllm",
        name="vLLM",
        words=r"vllm\w*|EngineCore\w*|EngineDeadError|AsyncLLM\w*",
        component="vllm",
        known=say(
            "vLLM's engine is a process of its own: why it ended stands above the last lines, where its log begins "
            "to complain."
        ),
        ask=COLLECT_ENV,
        source_title="vLLM, troubleshooting",
        source_url="https://docs.vllm.ai/en/latest/usage/troubleshooting.html",
    ),
    NamedProgram(
        key="sglang",
        name="SGLang",
        words=r"sglang|sgl[_-]kernel|sgl_\w+|flashinfer",
        component="pytorch",
        known=say("SGLang, sgl-kernel and FlashInfer are built for one torch and one CUDA: they change together."),
        ask="python -m pip list",
        source_title="SGLang, installation",
        source_url="https://docs.sglang.io/get_started/install.html",
    ),
    NamedProgram(
        key="ollama",
        name="Ollama",
        words=r"ollama|llama runner",
        component="llama-cpp",
        known=say("Ollama's log says which GPU library it loaded, and how many layers of the model it put there."),
        ask="journalctl -u ollama --no-pager -n 200",
        source_title="Ollama, troubleshooting",
        source_url="https://docs.ollama.com/troubleshooting",
    ),
    NamedProgram(
        key="llama-cpp",
        name="llama.cpp",
        words=r"llama[._-]?cpp\w*|ggml\w*|gguf\w*|llama_\w+|llama-\w+|lm[- _]?studio|koboldcpp|whisper\.cpp"
        r"|stable-diffusion\.cpp",
        component="llama-cpp",
        known=say("llama.cpp names the back ends and the devices that it finds when it starts, before any error."),
        ask="llama-bench --list-devices",
        source_title="llama.cpp, build",
        source_url="https://github.com/ggml-org/llama.cpp/blob/master/docs/build.md",
    ),
    NamedProgram(
        key="mlx",
        name="MLX",
        words=r"mlx\w*|mlx[-_.]\w+",
        component="mlx",
        known=say("MLX runs on Apple silicon by Metal, and each release of it is built for a lowest macOS."),
        ask=MAC_HARDWARE,
        source_title="MLX, installation",
        source_url="https://ml-explore.github.io/mlx/build/html/install.html",
    ),
    NamedProgram(
        key="jax",
        name="JAX",
        words=r"jax\w*|jax[-_.]\w+|xla\w*|PJRT\w*|XlaRuntimeError|RESOURCE_EXHAUSTED|flax",
        component="jax",
        known=say("JAX reaches a card by a plug-in of its own; without one that fits jaxlib it computes on the CPU."),
        ask='python -c "import jax; jax.print_environment_info()"',
        source_title="JAX, installation",
        source_url="https://docs.jax.dev/en/latest/installation.html",
    ),
    NamedProgram(
        key="tensorflow",
        name="TensorFlow",
        words=r"tensorflow\w*|tf|keras\w*|cuda_executor\.cc|gpu_device\.cc|cuda_dnn\.cc",
        component="tensorflow",
        known=say("TensorFlow loads CUDA and cuDNN when it starts, and goes on without a card where one is missing."),
        ask='python -c "import tensorflow as tf; print(tf.__version__, tf.sysconfig.get_build_info())"',
        source_title="TensorFlow, install with pip",
        source_url="https://www.tensorflow.org/install/pip",
    ),
    NamedProgram(
        key="onnxruntime",
        name="ONNX Runtime",
        words=r"onnx\w*|ORT_\w+|\w*ExecutionProvider",
        component="onnxruntime-gpu",
        known=say("ONNX Runtime tries its providers in order, and takes the CPU where none before it can be loaded."),
        ask="python -m pip list",
        source_title="ONNX Runtime, CUDA Execution Provider",
        source_url="https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html",
    ),
    NamedProgram(
        key="tensorrt",
        name="TensorRT",
        words=r"tensorrt\w*|trtexec|\[TRT\]|TRT|nvinfer\w*|nvonnxparser",
        component="tensorrt",
        known=say("An engine of TensorRT runs with the release and on the kind of card that it was built with."),
        ask="python -m pip list",
        source_title="TensorRT documentation",
        source_url="https://docs.nvidia.com/deeplearning/tensorrt/latest/index.html",
    ),
    NamedProgram(
        key="nccl",
        name="NCCL",
        words=r"nccl\w*|ProcessGroupNCCL|DistBackendError|rccl\w*|gloo",
        component="nccl",
        known=say("One rank's fault is seen as a time-out by all others: look for the rank that complains first."),
        ask="NCCL_DEBUG=INFO python your_program.py",
        source_title="NCCL, troubleshooting",
        source_url="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    ),
    NamedProgram(
        key="build",
        name="nvcc",
        words=r"nvcc|ptxas|cicc|hipcc|cmake|ninja|cl\.exe|gcc|g\+\+|cc1plus|clang\+*|collect2|bin/ld|cpp_extension\.py|CUDA_HOME"
        r"|CUDAExtension|setup\.py|build_ext",
        component="cuda-toolkit",
        known=say(
            "An extension is compiled by nvcc and the C++ compiler of this machine, which have to fit torch and each "
            "other; the first error of a build is the cause of the others."
        ),
        ask="nvcc --version",
        source_title="PyTorch, custom C++ and CUDA operators",
        source_url="https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html",
    ),
    NamedProgram(
        key="rocm",
        name="ROCm",
        words=r"rocm\w*|hip(?:cc|blas\w*|error\w*|malloc\w*|launch\w*|_\w+)?|hsa\w*|HSA_\w+|rocblas\w*|miopen\w*|tensile\w*|radeon\w*|MI\d{3}[AX]?"
        r"|gfx\d{1,4}[a-f]?",
        component="rocm",
        known=say("ROCm's libraries carry code for the targets they were built for, such as gfx1100, and no other."),
        ask=ROCMINFO,
        source_title="ROCm, prerequisites",
        source_url="https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html",
    ),
    NamedProgram(
        key="vulkan",
        name="Vulkan or OpenCL",
        words=r"vulkan\w*|vk\w{0,20}::\w+|VK_\w+|vkCreate\w+|opencl\w*|CL_[A-Z]+_\w+|cl(?:Build|Create|Enqueue|Get)\w+|clinfo|pyopencl",
        component="hardware",
        known=say("Vulkan and OpenCL use the driver of each card, which has to be registered with their loader."),
        ask="vulkaninfo --summary",
        source_title="Vulkan loader, drivers",
        source_url="https://github.com/KhronosGroup/Vulkan-Loader/blob/main/docs/LoaderDriverInterface.md",
    ),
    NamedProgram(
        key="wsl",
        name="WSL",
        words=r"wsl2?|dxg\w*|/dev/dxg",
        component="wsl",
        known=say("WSL has no driver of its own: it uses the one of Windows, by /dev/dxg."),
        ask="wsl --version",
        source_title="CUDA on WSL",
        source_url="https://docs.nvidia.com/cuda/wsl-user-guide/index.html",
    ),
    NamedProgram(
        key="add-on",
        name="PyTorch",
        words=r"xformers|flash[-_]attn\w*|bitsandbytes|deepspeed|triton\w*|torchvision|torchaudio|torchcodec|torchao"
        r"|sageattention|apex|auto[-_]?gptq|gptqmodel|autoawq|causal[-_]conv1d|mamba[-_]ssm|unsloth\w*|natten"
        r"|pytorch3d|mmcv|detectron2|gsplat",
        component="pytorch",
        known=say("This package has code of its own for the GPU, built for one torch and one CUDA."),
        ask=COLLECT_ENV,
        source_title="PyTorch, get started",
        source_url="https://pytorch.org/get-started/locally/",
    ),
    NamedProgram(
        key="metal",
        name="Metal",
        words=r"metal(?:lib|_\w+)?|MTL\w*|MPS\w*|kIOGPU\w*|IOGPU\w*|AGXMetal\w*|core ?ml\w*|e5rt"
        r"|ANE(?:Compiler\w+|_\w+)?|macos|macbook|Apple M\d|M\d (?:Pro|Max|Ultra)",
        component="metal",
        known=say("Metal is part of macOS: what a program may use of it depends on the chip and the macOS."),
        ask=MAC_HARDWARE,
        source_title="PyTorch, MPS environment variables",
        source_url="https://docs.pytorch.org/docs/stable/mps_environment_variables.html",
    ),
    NamedProgram(
        key="torch",
        name="PyTorch",
        words=r"torch(?:run|[._]\w+)?|pytorch\w*|c10\w*|ATen|aten|AcceleratorError|transformers|diffusers|comfyui|a1111"
        r"|safetensors|lightning",
        component="pytorch",
        known=say("torch names the operation that failed; its own report says which build, driver and card there are."),
        ask=COLLECT_ENV,
        source_title="PyTorch, get started",
        source_url="https://pytorch.org/get-started/locally/",
    ),
    NamedProgram(
        key="installer",
        name="pip",
        words=r"pip3?|uv|conda|mamba|poetry|pixi|setuptools|site-packages",
        component="python",
        known=say("An installer takes what fits this Python, this system and this processor, and refuses all else."),
        ask="python -m pip list",
        source_title="Python Packaging, platform compatibility tags",
        source_url="https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/",
    ),
    NamedProgram(
        key="cuda",
        name="CUDA",
        words=r"cuda\w*|cudnn\w*|cublas\w*|cufft\w*|cusparse\w*|cusolver\w*|nvrtc\w*|nvml\w*|nvidia\w*|nvidia-smi"
        r"|geforce|[rg]tx|tesla|quadro|lib(?:cu|nv)\w+\.so[\d.]*|nv\w+\.dll|cu\w+\.dll|gpu",
        component="nvidia-driver",
        known=say("CUDA needs a driver that serves its version, a card that the build has code for, and free memory."),
        ask=NVIDIA_SMI,
        source_title="CUDA Driver API, CUresult",
        source_url="https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html",
    ),
)  # fmt: skip
"""The one that narrows most comes first: a line of vLLM's log that names torch is of vLLM."""

PROGRAMS_BY_KEY = {program.key: program for program in NAMED_PROGRAMS}
_WORDS = tuple(
    (re.compile(rf"(?<![^\W_])(?:{program.words})(?![^\W_])", re.IGNORECASE), program) for program in NAMED_PROGRAMS
)


def program_in(text: str) -> tuple[str, NamedProgram] | None:
    """Return the word as it is written and whose it is; None where no word tells.

    Searches all of the text, once for each program: who calls it bounds its length.
    """
    for pattern, program in _WORDS:
        if match := pattern.search(text):
            return match[0], program
    return None
