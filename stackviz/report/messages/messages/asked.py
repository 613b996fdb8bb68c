"""What commands print that other advice asks for, where the print itself shows the fault."""

from stackviz.report.messages.commands import NVIDIA_SMI
from stackviz.report.messages.symptom import Cause, Symptom

_HEADERS = "sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall"
_GUIDE = "NVIDIA, Driver Installation Guide"
_GUIDE_URL = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"
_ROCM = "ROCm, installation prerequisites"
_ROCM_URL = "https://rocm.docs.amd.com/projects/install-on-linux/en/latest/install/prerequisites.html"
_LSPCI = "lspci -nnk"
_JAX = "JAX, installation"
_JAX_URL = "https://docs.jax.dev/en/latest/installation.html"

SYMPTOMS = (
    Symptom(
        key="fabric-manager-stopped",
        message="nvidia-fabricmanager.service Active: failed (Result: exit-code)",
        patterns=(
            (
                r"nvidia-fabricmanager\.service[^\n]{0,200}(?:\n[^\n]{0,200}){0,4}?"
                r"\bActive: (?P<detail>failed|inactive)"
                r"(?!(?:[^\n]{0,240}\n){1,8}?[^\n]{0,200}n't match)"
            ),
        ),
        anchors=("nvidia-fabricmanager.service",),
        component="nvidia-driver",
        severity="warning",
        meaning="The fabric manager does not run; without it CUDA fails with error 802 on a machine with NVSwitch.",
        causes=(
            Cause(
                text="It was never started.",
                sign="The service is inactive, or disabled.",
                remedy="sudo systemctl enable --now nvidia-fabricmanager",
            ),
            Cause(
                text="It is of another version than the driver.",
                sign="The lines below the state name two versions.",
                remedy="Install it in the driver's version, digit for digit.",
            ),
            Cause(
                text="The machine has no NVSwitch.", sign="nvidia-smi topo -m shows no NV links.", remedy="Remove it."
            ),
        ),
        ask="nvidia-smi topo -m",
        rules=("err802-fabric",),
        source_title="NVIDIA, Fabric Manager User Guide",
        source_url="https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
    ),
    Symptom(
        key="nvidia-device-files-missing",
        message="ls: cannot access '/dev/nvidia*': No such file or directory",
        patterns=(r"ls: cannot access '?/dev/nvidia(?:\*|\d|ctl)'?: No such file",),
        anchors=("/dev/nvidia",),
        component="nvidia-driver",
        meaning="There are no device files of the NVIDIA driver: CUDA cannot open a card.",
        causes=(
            Cause(
                text="The kernel module is not loaded.",
                sign="lsmod | grep nvidia prints nothing on the host.",
                remedy="sudo modprobe nvidia (its message says why, if it fails)",
            ),
            Cause(
                text="This is a container that was started without the cards.",
                sign="The files are there on the host.",
                remedy="docker run --gpus all",
            ),
            Cause(
                text="This is WSL, which has /dev/dxg instead.",
                sign="uname -r ends in WSL2.",
                remedy="Nothing to do: the files belong to no WSL.",
            ),
        ),
        ask="lsmod | grep -iE 'nvidia|nouveau'",
        rules=("smi-no-driver", "nouveau", "module-missing"),
        source_title=_GUIDE,
        source_url=_GUIDE_URL,
    ),
    Symptom(
        key="nvidia-devices-closed",
        message="crw-rw---- 1 root video 195, 0 Nov  2 10:00 /dev/nvidia0",
        patterns=(
            (
                r"crw-(?:rw|r-|--)-(?:r-|--)- \d{1,3} [\w-]{1,32} (?P<detail>[\w-]{1,32}) \d{1,3}, \d{1,3} [^\n/]{4,40}"
                r"/dev/nvidia(?:\d{1,3}|ctl|-uvm)\b"
            ),
        ),
        anchors=("/dev/nvidia",),
        component="nvidia-driver",
        severity="warning",
        meaning="Only root and one group may open the device files of the NVIDIA driver; as installed, everybody may.",
        causes=(
            Cause(
                text="The user is not in the group of the file.",
                sign="groups does not list the group that ls names.",
                remedy="sudo usermod -aG video $USER (with the group of the file; then log in again)",
            ),
            Cause(
                text="An option of the module or a udev rule closes them on purpose.",
                sign="/etc/modprobe.d sets NVreg_DeviceFileMode.",
                remedy="Ask who runs the machine.",
            ),
        ),
        ask=NVIDIA_SMI,
        source_title=_GUIDE,
        source_url=_GUIDE_URL,
    ),
    Symptom(
        key="cuda-devices-hidden",
        message="CUDA_VISIBLE_DEVICES=-1",
        patterns=(r"(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES\b[=\"}]{0,3} ?-1(?![\d.])", r"(?:CUDA|HIP)_VISIBLE_DEVICES=\"\""),
        anchors=("_visible_devices",),
        component="cuda-runtime",
        severity="warning",
        meaning="The variable hides every card from this program and those that it starts.",
        causes=(
            Cause(
                text="A job script, a launcher or a notebook has set it.",
                sign="Another shell prints another value.",
                remedy="unset CUDA_VISIBLE_DEVICES (and look for it in ~/.bashrc and the job script)",
            ),
        ),
        ask=NVIDIA_SMI,
        rules=("torch-sees-no-card",),
        source_title="CUDA Programming Guide, environment variables",
        source_url="https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html",
    ),
    Symptom(
        key="kfd-missing",
        message="ls: cannot access '/dev/kfd': No such file or directory",
        patterns=(
            r"ls: cannot access '?/dev/kfd'?: No such file",
            r"modprobe: FATAL: Module amdgpu not found",
        ),
        anchors=("/dev/kfd", "module amdgpu"),
        component="amdgpu-driver",
        meaning="There is no /dev/kfd: ROCm has no way to a card.",
        causes=(
            Cause(
                text="The kernel module amdgpu is not loaded.",
                sign="lsmod | grep amdgpu prints nothing on the host.",
                remedy="sudo modprobe amdgpu",
            ),
            Cause(
                text="The running kernel has no module amdgpu.",
                sign="modprobe says that it is not found.",
                remedy="Install the extra modules of the kernel (linux-modules-extra), or AMD's amdgpu-dkms.",
            ),
            Cause(
                text="This is a container that was started without the device.",
                sign="The file is there on the host.",
                remedy="Start the container with --device /dev/kfd --device /dev/dri.",
            ),
            Cause(
                text="This is WSL, which has /dev/dxg instead.",
                sign="uname -r ends in WSL2.",
                remedy="Use AMD's packages of ROCm for WSL.",
            ),
        ),
        ask="lsmod | grep amdgpu",
        source_title=_ROCM,
        source_url=_ROCM_URL,
    ),
    Symptom(
        key="jax-lists-cpu-only",
        message="[CpuDevice(id=0)]",
        patterns=(r"\[(?:Tfrt)?CpuDevice\(id=0\)(?:, ?(?:Tfrt)?CpuDevice\(id=\d{1,3}\)){0,64}\]",),
        anchors=("cpudevice(id=0)",),
        component="jax",
        severity="warning",
        meaning="JAX lists no device but the processor.",
        causes=(
            Cause(
                text="The plug-in for the card is not installed.",
                sign="python -m pip list shows no jax-cuda12-plugin, jax-cuda13-plugin or jax-metal.",
                remedy="pip install -U 'jax[cuda13]' (or cuda12 for an older driver)",
                excluded_by=("jax-cpu",),
            ),
            Cause(
                text="The plug-in is of another release than jaxlib, or finds no driver.",
                sign='python -c "import jax; jax.print_environment_info()" shows different versions, or a warning.',
                remedy="Install jax, jaxlib and the plug-in in one step.",
            ),
            Cause(text="JAX_PLATFORMS holds it on the processor.", sign="env lists it.", remedy="unset JAX_PLATFORMS"),
        ),
        ask='python -c "import jax; jax.print_environment_info()"',
        rules=("jax-cpu",),
        source_title=_JAX,
        source_url=_JAX_URL,
    ),
    Symptom(
        key="tensorflow-cpu-build",
        message="OrderedDict({'is_cuda_build': False})",
        patterns=(r"'is_cuda_build': False",),
        anchors=("is_cuda_build",),
        component="tensorflow",
        severity="warning",
        meaning="This TensorFlow was built without CUDA: it uses no NVIDIA card.",
        causes=(
            Cause(
                text="The build for processors was installed.",
                sign="python -m pip list shows tensorflow-cpu, or the system is Windows or a Mac.",
                remedy="On Linux and WSL 2: pip install 'tensorflow[and-cuda]'; in Windows itself TensorFlow uses no "
                "card.",
            ),
        ),
        ask="python -m pip list",
        rules=("tf-windows",),
        source_title="TensorFlow, install with pip",
        source_url="https://www.tensorflow.org/install/pip",
    ),
    Symptom(
        key="tensorflow-lists-no-gpu",
        message="tf.config.list_physical_devices('GPU') []",
        patterns=(
            r"list_physical_devices\(['\"]GPU['\"]\)[)\"]{0,3} \[\]",
            r"\[PhysicalDevice\(name='/physical_device:CPU:0', device_type='CPU'\)\]",
        ),
        anchors=("list_physical_devices", "physical_device:cpu:0"),
        component="tensorflow",
        severity="warning",
        meaning="TensorFlow sees no GPU.",
        causes=(
            Cause(
                text="CUDA or cuDNN of the version that it needs is not found.",
                sign="It says Cannot dlopen some GPU libraries when it starts.",
                remedy="pip install 'tensorflow[and-cuda]'",
            ),
            Cause(
                text="It is a build without CUDA.",
                sign="tf.sysconfig.get_build_info() says 'is_cuda_build': False.",
                remedy="On Linux and WSL 2: pip install 'tensorflow[and-cuda]'",
            ),
            Cause(text="The driver does not answer.", sign="nvidia-smi fails.", remedy="Repair the driver first."),
        ),
        ask='python -c "import tensorflow as tf; print(tf.__version__, tf.sysconfig.get_build_info())"',
        rules=("tf-windows",),
        source_title="TensorFlow, install with pip",
        source_url="https://www.tensorflow.org/install/pip",
    ),
    Symptom(
        key="nvidia-card-without-driver",
        message="VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] Kernel modules: nvidiafb",
        patterns=(
            (
                r"(?:VGA compatible|3D) controller(?: \[0\d{3}\])?: NVIDIA Corporation [^\n]{2,160}?[)\]] "
                r"(?:Subsystem: [^\n]{2,160}?\] )?Kernel modules: [^\n]{0,200}"
            ),
        ),
        anchors=("nvidia corporation",),
        component="nvidia-driver",
        meaning="The card is on the bus, and no kernel driver drives it.",
        causes=(
            Cause(
                text="NVIDIA's module is not installed for the running kernel.",
                sign="The line Kernel modules does not name nvidia; dkms status names another kernel than uname -r.",
                remedy=f"{_HEADERS} (with apt; elsewhere the headers of the running kernel)",
            ),
            Cause(
                text="The module is installed, and could not be loaded.",
                sign="The line Kernel modules names nvidia; sudo modprobe nvidia says why.",
                remedy="sudo modprobe nvidia",
            ),
        ),
        ask="sudo modprobe nvidia",
        rules=("module-missing", "secure-boot", "nouveau", "smi-no-driver"),
        source_title=_GUIDE,
        source_url=_GUIDE_URL,
    ),
    Symptom(
        key="nvidia-card-for-virtual-machines",
        message="VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] Kernel driver in use: vfio-pci",
        patterns=(
            (
                r"(?:VGA compatible|3D) controller(?: \[0\d{3}\])?: NVIDIA Corporation [^\n]{2,160}?[)\]] "
                r"(?:Subsystem: [^\n]{2,160}?\] )?Kernel driver in use: vfio-pci"
            ),
        ),
        anchors=("vfio-pci",),
        component="nvidia-driver",
        meaning="The card is set aside for virtual machines: vfio-pci holds it, and NVIDIA's driver cannot.",
        causes=(
            Cause(
                text="The card is passed through to a virtual machine.",
                sign="A virtual machine uses it.",
                remedy="Use it there, or take its PCI id out of vfio-pci.ids and reboot.",
            ),
        ),
        ask=_LSPCI,
        rules=("smi-no-driver",),
        source_title="Linux kernel, VFIO",
        source_url="https://docs.kernel.org/driver-api/vfio.html",
    ),
    Symptom(
        key="xpu-smi-no-device",
        message="xpu-smi discovery: No device discovered",
        patterns=(r"\bNo device discovered\b",),
        anchors=("no device discovered",),
        component="pytorch",
        meaning="Intel's tools find no GPU that they can use.",
        causes=(
            Cause(
                text="The user may not open the render node.",
                sign="groups does not list render.",
                remedy="sudo usermod -aG render,video $USER (then log in again)",
            ),
            Cause(
                text="Level Zero or the compute runtime is not installed.",
                sign="sycl-ls lists no level_zero device.",
                remedy="Install intel-opencl-icd and libze-intel-gpu1 from Intel's repository.",
            ),
            Cause(
                text="The kernel is older than the card.",
                sign="lspci -nnk names no driver i915 or xe in use.",
                remedy="Install a newer kernel.",
            ),
        ),
        ask=_LSPCI,
        rules=(),
        source_title="PyTorch, Intel GPUs",
        source_url="https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html",
    ),
    Symptom(
        key="llama-cpp-no-device",
        message="Available devices: (none)",
        patterns=(r"Available devices:\s{1,20}\(none\)",),
        anchors=("available devices:",),
        component="llama-cpp",
        severity="warning",
        meaning="This llama.cpp lists no device but the processor.",
        causes=(
            Cause(
                text="It was built without a back end for the card.",
                sign="Its start names no CUDA, HIP, Vulkan, SYCL or Metal.",
                remedy="Take a release with the back end, or build it with -DGGML_CUDA=ON (or GGML_HIP, GGML_VULKAN).",
            ),
            Cause(text="The driver does not answer.", sign="nvidia-smi or rocminfo fails.", remedy="Repair it first."),
        ),
        ask=NVIDIA_SMI,
        source_title="llama.cpp, build",
        source_url="https://github.com/ggml-org/llama.cpp/blob/master/docs/build.md",
    ),
)
