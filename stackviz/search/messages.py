"""Error messages of drivers, CUDA, PyTorch and Macs that people search for, and what each means.

`rule`: the rule of the diagnosis that finds the cause in a dump, "" where a dump does not show it. To add one: the
message as it is printed, without what differs from machine to machine.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMessage:
    """One message. `address`, `arguments`: the page that explains what it is about."""

    text: str
    meaning: str | Promise
    rule: str = ""
    address: str = "stacks:component"
    arguments: tuple[str, ...] = ()


ERROR_MESSAGES = (
    ErrorMessage(
        text="CUDA error: no kernel image is available for execution on the device",
        meaning=_("This build of PyTorch has no code for the GPU's compute capability: install a build that has."),
        rule="kernels-missing",
        arguments=("pytorch",),
    ),
    ErrorMessage(
        text="sm_120 is not compatible with the current PyTorch installation",
        meaning=_("This build of PyTorch has no code for the GPU's compute capability: install a build that has."),
        rule="kernels-missing",
        arguments=("pytorch",),
    ),
    ErrorMessage(
        text="AssertionError: Torch not compiled with CUDA enabled",
        meaning=_("pip installed a build of PyTorch without CUDA: install one with CUDA."),
        rule="cpu-wheel",
        arguments=("pytorch",),
    ),
    ErrorMessage(
        text="CUDA driver version is insufficient for CUDA runtime version",
        meaning=_("The driver is older than PyTorch's CUDA needs: update the driver, or install an older build."),
        rule="driver-too-old",
        arguments=("cuda-runtime",),
    ),
    ErrorMessage(
        text="The NVIDIA driver on your system is too old",
        meaning=_("The driver is older than PyTorch's CUDA needs: update the driver, or install an older build."),
        rule="driver-too-old",
        arguments=("cuda-runtime",),
    ),
    ErrorMessage(
        text="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver",
        meaning=_("The driver's kernel module is not loaded."),
        rule="smi-no-driver",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="Found no NVIDIA driver on your system",
        meaning=_("PyTorch reaches no NVIDIA driver: none is installed, or its kernel module is not loaded."),
        rule="smi-no-driver",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="Failed to initialize NVML: Driver/library version mismatch",
        meaning=_("The driver was updated while the old kernel module stayed loaded: reboot."),
        rule="nvml-mismatch",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="Failed to initialize NVML: Unknown Error",
        meaning=_("In a container: it has lost its GPUs; restart it."),
        rule="nvml-unknown-container",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="No devices were found",
        meaning=_("The driver is loaded and has no usable GPU."),
        rule="smi-no-driver",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="Error 802: system not yet initialized",
        meaning=_("The fabric manager of a machine with NVSwitch is not running."),
        rule="err802-fabric",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="Error 803: system has unsupported display driver / cuda driver combination",
        meaning=_("libcuda does not belong to the loaded driver."),
        rule="err803",
        arguments=("cuda-driver-api",),
    ),
    ErrorMessage(
        text="Error 804: forward compatibility was attempted on non supported HW",
        meaning=_("A CUDA compatibility package is installed that this GPU cannot use."),
        rule="err804",
        arguments=("cuda-driver-api",),
    ),
    ErrorMessage(
        text="CUDA unknown error - this may be due to an incorrectly set up environment",
        meaning=_("The driver's module for unified memory does not work, often after the machine slept."),
        rule="uvm-after-suspend",
        arguments=("nvidia-driver",),
    ),
    ErrorMessage(
        text="torch.cuda.is_available() returns False",
        meaning=_("PyTorch sees no GPU: paste a dump to learn why."),
        rule="torch-sees-no-card",
        arguments=("pytorch",),
    ),
    ErrorMessage(
        text="undefined symbol: __nvJitLinkAddData",
        meaning=_("PyTorch loads another nvJitLink than its own, usually because of LD_LIBRARY_PATH."),
        rule="nvjitlink-shadow",
        arguments=("cuda-runtime",),
    ),
    ErrorMessage(
        text="Unable to load libcudnn_cnn.so: cannot open shared object file",
        meaning=_("cuDNN does not find all its libraries."),
        rule="cudnn-wheel-incomplete",
        arguments=("cudnn",),
    ),
    ErrorMessage(
        text="CUDNN_STATUS_NOT_INITIALIZED",
        meaning=_("PyTorch may load another cuDNN than its own, or the GPU has no memory left."),
        rule="ld-library-path-cudnn",
        arguments=("cudnn",),
    ),
    ErrorMessage(
        text="flash_attn_2_cuda undefined symbol",
        meaning=_("flash-attn was built for another PyTorch."),
        rule="flash-attn-abi",
        arguments=("flash-attn",),
    ),
    ErrorMessage(
        text="FlashAttention only supports Ampere GPUs or newer",
        meaning=_("flash-attn does not support this GPU."),
        rule="flash-attn-card",
        arguments=("flash-attn",),
    ),
    ErrorMessage(
        text="The operator is not currently implemented for the MPS device",
        meaning=_("PyTorch has no Metal kernel for this operator; PYTORCH_ENABLE_MPS_FALLBACK=1 runs it on the CPU."),
        rule="mps-fallback",
        arguments=("mps",),
    ),
    ErrorMessage(
        text="MPS backend out of memory",
        meaning=_("The model and its data are larger than what the GPU of this Mac may use."),
        address="fit:page",
    ),
    ErrorMessage(
        text="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate",
        meaning=_("The model and its data are larger than the memory of the GPU: see what fits."),
        address="fit:page",
    ),
    ErrorMessage(
        text="Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64",
        meaning=_("GPUs of Macs have no fp64: use fp32, or the CPU."),
        arguments=("mps",),
    ),
    ErrorMessage(
        text="The MPS backend is supported on MacOS 14.0+",
        meaning=_("macOS is older than PyTorch's mps device needs."),
        rule="mps-old-macos",
        arguments=("macos",),
    ),
    ErrorMessage(
        text="HIP error: invalid device function",
        meaning=_("This build of PyTorch has no code for the AMD GPU."),
        rule="rocm-kernels-missing",
        arguments=("pytorch",),
    ),
    ErrorMessage(
        text="ptxas fatal : Value 'sm_121a' is not defined for option 'gpu-name'",
        meaning=_("Triton's ptxas does not know this GPU yet."),
        rule="triton-ptxas",
        arguments=("triton",),
    ),
    ErrorMessage(
        text="An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed",
        meaning=_("Only JAX for the CPU is installed."),
        rule="jax-cpu",
        arguments=("jax",),
    ),
    ErrorMessage(
        text="Could not find a version that satisfies the requirement torch",
        meaning=_("The index has no PyTorch for this Python and system."),
        rule="mac-cu-index",
        arguments=("pytorch",),
    ),
)
