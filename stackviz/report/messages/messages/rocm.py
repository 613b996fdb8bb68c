"""AMD cards with ROCm, Intel GPUs with XPU."""

from stackviz.report.messages.commands import COLLECT_ENV, ROCMINFO
from stackviz.report.messages.symptom import Cause, Symptom

_SUPPORT = "ROCm, system requirements"
_SUPPORT_URL = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/reference/system-requirements.html"

SYMPTOMS = (
    Symptom(
        key="hip-invalid-device-function",
        message="RuntimeError: HIP error: invalid device function",
        patterns=(
            r"(?:(?:HIP|ROCm) error|hipError\w{0,30}).{0,40}?invalid device function",
            r"hipErrorInvalidDeviceFunction",
        ),
        anchors=("invalid device function", "hiperrorinvaliddevicefunction"),
        component="rocm",
        meaning=(
            "The build has no code for this Radeon or Instinct: its gfx target is not among those it was built for."
        ),
        causes=(
            Cause(
                text="The card is not one that this build supports.",
                sign="rocminfo names a gfx target that torch.cuda.get_arch_list() lacks.",
                remedy="Install a build for that target.",
                excluded_by=("rocm-kernels-missing",),
            ),
            Cause(
                text="The card is close to one that is supported.",
                sign="It is of the same family, from RDNA on (gfx10): gfx1031 beside gfx1030, never one of gfx9.",
                remedy="Let gfx1031 pass for gfx1030, at your own risk: export HSA_OVERRIDE_GFX_VERSION=10.3.0",
            ),
        ),
        ask=ROCMINFO,
        rules=("rocm-kernels-missing",),
        source_title=_SUPPORT,
        source_url=_SUPPORT_URL,
    ),
    Symptom(
        key="no-hip-gpus",
        message="RuntimeError: No HIP GPUs are available",
        patterns=(r"No HIP GPUs are available", r"hipErrorNoDevice", r"no ROCm-capable device is detected"),
        anchors=("no hip gpus", "hiperrornodevice", "no rocm-capable"),
        component="amdgpu-driver",
        meaning="torch is built for ROCm and sees no card.",
        causes=(
            Cause(
                text="This user may not open /dev/kfd and /dev/dri.",
                sign="rocminfo says that it cannot open /dev/kfd.",
                remedy="sudo usermod -aG render,video $USER (then log in again)",
            ),
            Cause(
                text="The container was started without the devices.",
                sign="ls /dev/kfd fails in the container.",
                remedy="Start it with --device /dev/kfd --device /dev/dri --group-add video",
                favoured_by=("container",),
            ),
            Cause(
                text="The driver does not know the card, or is not loaded.",
                sign="lsmod | grep amdgpu prints nothing.",
                remedy="Install the driver that belongs to this ROCm.",
            ),
            Cause(
                text="HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES hides it.",
                sign="One of them is set.",
                remedy="unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES",
            ),
        ),
        ask=ROCMINFO,
        states={"cuda.available": False},
        source_title="ROCm, post-installation: group permissions",
        source_url="https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html",
    ),
    Symptom(
        key="kfd-permission",
        message="Unable to open /dev/kfd read-write: Permission denied",
        patterns=(
            r"Unable to open /dev/kfd read-write: (?P<detail>Permission denied|No such file or directory)",
            (
                r"(?:permission problems block access.{0,240}?|permissions not set up properly.{0,160}?)?"
                r"open /dev/kfd: (?P<detail>permission denied|no such file or directory)"
            ),
            r"permission problems block access",
        ),
        anchors=("/dev/kfd", "permission problems"),
        component="amdgpu-driver",
        meaning="ROCm reaches the card through /dev/kfd, and this process may not open it or has none.",
        causes=(
            Cause(
                text="The user is not in the group render.",
                sign="The message says Permission denied; groups does not list render.",
                remedy="sudo usermod -aG render,video $USER (then log in again)",
            ),
            Cause(
                text="The container has no such device, or the driver is not loaded.",
                sign="The message says No such file.",
                remedy=(
                    "Start the container with --device /dev/kfd --device /dev/dri; on the host: sudo modprobe amdgpu"
                ),
            ),
        ),
        ask="ls -l /dev/kfd /dev/dri",
        source_title="ROCm, installation prerequisites",
        source_url="https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html",
    ),
    Symptom(
        key="rocblas-tensile",
        message=(
            "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory "
            "for GPU arch : gfx1103"
        ),
        patterns=(
            (
                r"rocBLAS error: Cannot read .{0,200}?TensileLibrary.{0,80}?(?:for GPU arch ?: "
                r"(?P<detail>gfx[0-9a-f]{3,4}))"
            ),
            r"rocBLAS error: Cannot read .{0,200}?TensileLibrary",
        ),
        anchors=("rocblas error",),
        component="rocm",
        meaning="rocBLAS was built without kernels for this card.",
        causes=(
            Cause(
                text="The card is not supported by this ROCm.",
                sign="The gfx target in the message is not in AMD's list.",
                remedy="Use a build of ROCm or of the program for that target.",
            ),
            Cause(
                text="The card is close to one that is supported.",
                sign="It is of the same family, from RDNA on (gfx10): gfx1103 beside gfx1100, never one of gfx9.",
                remedy="Let gfx1103 pass for gfx1100, at your own risk: export HSA_OVERRIDE_GFX_VERSION=11.0.0",
            ),
        ),
        ask=ROCMINFO,
        rules=("rocm-kernels-missing",),
        source_title=_SUPPORT,
        source_url=_SUPPORT_URL,
    ),
    Symptom(
        key="xpu-not-available",
        message="AssertionError: Torch not compiled with XPU enabled",
        patterns=(r"Torch not compiled with XPU enabled", r"No XPU devices are available"),
        anchors=("with xpu enabled", "no xpu devices"),
        component="pytorch",
        meaning="The program asks for an Intel GPU (device xpu), and this torch is built for another one or sees none.",
        causes=(
            Cause(
                text="The build is not the one for Intel GPUs.",
                sign="torch.__version__ does not end in +xpu.",
                remedy="pip install torch --index-url https://download.pytorch.org/whl/xpu",
            ),
            Cause(
                text="The driver of the GPU is missing or old.",
                sign="xpu-smi discovery or clinfo lists no GPU.",
                remedy="Install Intel's GPU driver and its compute runtime.",
            ),
        ),
        ask=COLLECT_ENV,
        states={"xpu.available": False},
        source_title="PyTorch, Getting Started on Intel GPU",
        source_url="https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html",
    ),
)
