"""CUDA does not start: what its driver API and torch say of it."""

from stackviz.report.messages.commands import COLLECT_ENV, NVIDIA_SMI, NVIDIA_SMI_Q
from stackviz.report.messages.symptom import Cause, Symptom

_DRIVER_API = "CUDA Driver API, CUresult"
_DRIVER_API_URL = "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html"
_OFF = {"cuda.available": False}

SYMPTOMS = (
    Symptom(
        key="driver-too-old",
        message="The NVIDIA driver on your system is too old (found version 11040)",
        patterns=(
            r"driver on your system is too old(?: \(found version (?P<cuda__driver_api_version>\d{4,5})\))?",
            r"CUDA driver version is insufficient for CUDA runtime version",
            r"cudaErrorInsufficientDriver",
        ),
        anchors=("system is too old", "version is insufficient", "cudaerrorinsufficientdriver"),
        component="nvidia-driver",
        meaning=(
            "This build needs a newer NVIDIA driver than the one that is loaded. The number in the message is the "
            "newest CUDA version that the driver supports: 11040 is CUDA 11.4."
        ),
        causes=(
            Cause(
                text="The driver is older than the CUDA version of the build.",
                sign="nvidia-smi shows a CUDA version below torch.version.cuda.",
                remedy=(
                    "Install a build for a CUDA version that the driver supports, or update the driver as far as the "
                    "card allows."
                ),
                excluded_by=("driver-too-old",),
            ),
            Cause(
                text="In a container, the image is newer than the host's driver.",
                sign="The same image runs on a host with a newer driver.",
                remedy="Use an older image, or update the driver on the host as far as the card allows.",
                favoured_by=("container",),
            ),
            Cause(
                text="In WSL2, Windows or its driver is too old for CUDA.",
                sign="uname -r contains microsoft.",
                remedy="Update Windows, and in it the NVIDIA driver as far as the card allows; install none in Linux.",
                favoured_by=("wsl",),
            ),
        ),
        ask=COLLECT_ENV,
        states=_OFF,
        rules=("driver-too-old", "wsl1-no-gpu", "wsl2-old-windows"),
        source_title="CUDA Toolkit Release Notes, driver versions",
        source_url="https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html",
    ),
    Symptom(
        key="no-nvidia-driver",
        message="Found no NVIDIA driver on your system",
        patterns=(r"Found no NVIDIA driver on your system",),
        anchors=("found no nvidia driver",),
        component="nvidia-driver",
        meaning="torch is built with CUDA and cannot load the NVIDIA driver.",
        causes=(
            Cause(
                text="The container was started without the GPU.",
                sign="nvidia-smi works on the host and not in the container.",
                remedy="Start it with --gpus all.",
                favoured_by=("container",),
            ),
            Cause(
                text="The driver is not installed, or its kernel module is not loaded.",
                sign="nvidia-smi fails on the host too.",
                remedy="Install the driver, or load its module; nvidia-smi has to list the card first.",
            ),
            Cause(text="The machine has no NVIDIA card.", sign="lspci lists none.", remedy="Use a CPU build of torch."),
        ),
        ask=NVIDIA_SMI,
        states=_OFF,
        rules=("smi-no-driver", "nouveau", "secure-boot", "nvml-mismatch"),
        source_title="NVIDIA Driver Installation Guide",
        source_url="https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
    ),
    Symptom(
        key="cuda-100",
        message="CUDA error: no CUDA-capable device is detected",
        patterns=(r"no CUDA-capable device is (?:detected|available)", r"No CUDA GPUs are available"),
        anchors=("no cuda-capable device", "no cuda gpus are available"),
        component="nvidia-driver",
        meaning="The driver's library is loaded and shows this program no card (error 100).",
        causes=(
            Cause(
                text="CUDA_VISIBLE_DEVICES hides the cards.",
                sign="It is set, and empty, -1 or a number that no card has.",
                remedy="unset CUDA_VISIBLE_DEVICES",
            ),
            Cause(
                text="The container was started without the GPU, or lost it.",
                sign="nvidia-smi on the host lists the card, in the container it fails.",
                remedy="Start it again with --gpus all.",
                favoured_by=("container",),
            ),
            Cause(
                text="The driver has no usable card.",
                sign="nvidia-smi on the host says that no devices were found.",
                remedy="Look at what the driver says: sudo dmesg | grep -iE 'nvrm|xid'",
            ),
        ),
        ask=NVIDIA_SMI,
        states={"cuda.init_code": 100, **_OFF},
        rules=("smi-no-driver", "torch-sees-no-card"),
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-101",
        message="CUDA error: invalid device ordinal",
        patterns=(r"invalid device ordinal", r"cudaErrorInvalidDevice\b"),
        anchors=("invalid device ordinal", "cudaerrorinvaliddevice"),
        component="cuda-runtime",
        meaning="The program asks for a card number that CUDA does not have (error 101). Numbers begin at 0.",
        causes=(
            Cause(
                text="The program is set up for more cards than it sees.",
                sign="torch.cuda.device_count() is not above the number it asks for.",
                remedy="Lower the number of processes or cards in its configuration.",
            ),
            Cause(
                text="CUDA_VISIBLE_DEVICES leaves some cards out, which renumbers the others.",
                sign="nvidia-smi -L lists more cards than torch.cuda.device_count().",
                remedy="Set CUDA_VISIBLE_DEVICES to all cards that the program uses.",
            ),
        ),
        ask="nvidia-smi -L",
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-out-of-memory-at-start",
        message="CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 2: out of memory",
        patterns=(r"\bError 2: out of memory",),
        anchors=("error 2: out of memory",),
        component="nvidia-driver",
        meaning=(
            "CUDA cannot start: it finds no memory for its context (error 2). This is before the program asks for any "
            "memory, so a smaller model or batch does not help."
        ),
        causes=(
            Cause(
                text="In WSL2, Windows offers a card that CUDA cannot use, or too little memory for all of them.",
                sign="uname -r contains microsoft.",
                remedy=(
                    "Update the NVIDIA driver in Windows as far as the card allows, then: wsl --shutdown. With several "
                    "cards, try one: export CUDA_VISIBLE_DEVICES=0"
                ),
                favoured_by=("wsl",),
            ),
            Cause(
                text="Other programs hold the whole memory of the card.",
                sign="nvidia-smi shows it full.",
                remedy="End them.",
            ),
            Cause(
                text="The process may use too little address space or memory.",
                sign="ulimit -v is not unlimited, or the container has a small memory limit.",
                remedy="Raise the limit.",
            ),
        ),
        ask=NVIDIA_SMI,
        states={"cuda.init_code": 2, **_OFF},
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-304",
        message="CUDA error: OS call failed or operation not supported on this OS",
        patterns=(r"OS call failed or operation not supported on this OS", r"cudaErrorOperatingSystem"),
        anchors=("os call failed or operation", "cudaerroroperatingsystem"),
        component="nvidia-driver",
        meaning="The driver asked the operating system for something and was refused (error 304).",
        causes=(
            Cause(
                text="The device files may not be opened.",
                sign="ls -l /dev/nvidia* shows files that this user may not read and write.",
                remedy="Add the user to the group that owns them (often video or render), then log in again.",
            ),
            Cause(
                text="A sandbox or container keeps the process from the driver.",
                sign="The same command works outside it.",
                remedy="Pass the devices in: --gpus all",
                favoured_by=("container",),
            ),
        ),
        ask="ls -l /dev/nvidia*",
        states={"cuda.init_code": 304, **_OFF},
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-801",
        message="CUDA error: operation not supported",
        patterns=(
            r"(?:CUDA error|Error 801|cudaError\w{0,30}).{0,20}: operation not supported\b",
            r"cudaErrorNotSupported",
        ),
        anchors=("operation not supported", "cudaerrornotsupported"),
        component="cuda-runtime",
        meaning="The card, its driver or this system does not offer what the program asks for (error 801).",
        causes=(
            Cause(
                text="The system has no such feature: WSL2 and virtual GPUs lack some of managed and pinned memory.",
                sign="uname -r contains microsoft, or nvidia-smi names a GRID or vGPU profile.",
                remedy="Turn the feature off in the program, or run it on Linux with the whole card.",
            ),
            Cause(
                text="The vGPU profile has no CUDA: profiles that end in B or A are for desktops.",
                sign="The name of the card ends in such a profile.",
                remedy="Ask whoever runs the host for a Q or C profile.",
            ),
        ),
        ask=NVIDIA_SMI_Q,
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-802",
        message="Error 802: system not yet initialized",
        patterns=(r"system not yet initialized", r"cudaErrorSystemNotReady"),
        anchors=("system not yet initialized", "cudaerrorsystemnotready"),
        component="nvidia-driver",
        meaning=(
            "The cards of this machine are connected by NVSwitch, and CUDA cannot start before the fabric manager has "
            "set up the switches."
        ),
        causes=(
            Cause(
                text="The fabric manager is not running.",
                sign="systemctl status nvidia-fabricmanager does not say active.",
                remedy="sudo systemctl enable --now nvidia-fabricmanager",
                excluded_by=("err802-fabric",),
            ),
            Cause(
                text="The fabric manager is of another version than the driver.",
                sign="Its log names two versions.",
                remedy="Install nvidia-fabricmanager in exactly the driver's version.",
            ),
        ),
        ask="systemctl status nvidia-fabricmanager",
        states={"cuda.init_code": 802, **_OFF},
        rules=("err802-fabric",),
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-803",
        message="Error 803: system has unsupported display driver / cuda driver combination",
        patterns=(
            r"unsupported display driver ?/ ?cuda driver combination",
            r"cudaErrorSystemDriverMismatch",
        ),
        anchors=("unsupported display driver", "cudaerrorsystemdrivermismatch"),
        component="cuda-driver-api",
        meaning="The libcuda that is found first does not belong to the kernel module that is loaded.",
        causes=(
            Cause(
                text="An image brings its own libcuda, or a compat folder stands first in LD_LIBRARY_PATH.",
                sign="LD_LIBRARY_PATH names a folder with compat in it.",
                remedy="Remove that folder from LD_LIBRARY_PATH.",
                excluded_by=("err803",),
            ),
            Cause(
                text="The driver was updated and the old module is still loaded.",
                sign="cat /proc/driver/nvidia/version names another version than nvidia-smi.",
                remedy="Reboot the host when nothing else runs on it.",
                excluded_by=("err803",),
            ),
        ),
        ask="cat /proc/driver/nvidia/version; echo $LD_LIBRARY_PATH",
        states={"cuda.init_code": 803, **_OFF},
        rules=("err803",),
        source_title=_DRIVER_API,
        source_url=_DRIVER_API_URL,
    ),
    Symptom(
        key="cuda-804",
        message="Error 804: forward compatibility was attempted on non supported HW",
        patterns=(r"forward compatibility was attempted on non[- ]supported", r"cudaErrorCompatNotSupportedOnDevice"),
        anchors=("forward compatibility was attempted", "cudaerrorcompatnotsupportedondevice"),
        component="cuda-driver-api",
        meaning=(
            "A newer libcuda than the driver's (a compat package, often of a container image) is found "
            "first. That works "
            "on data-center cards only."
        ),
        causes=(
            Cause(
                text="The image is made for a newer driver, and the card is a GeForce or another card without support.",
                sign="The image names a newer CUDA version than nvidia-smi on the host.",
                remedy=(
                    "Use an image for a CUDA version that the driver supports, or update the driver on the host as far "
                    "as the card allows."
                ),
            ),
            Cause(
                text="A package cuda-compat is installed outside a container.",
                sign="LD_LIBRARY_PATH or ldconfig -p names a folder with compat in it.",
                remedy="Remove the package, or the folder from LD_LIBRARY_PATH.",
            ),
        ),
        ask=NVIDIA_SMI,
        states={"cuda.init_code": 804, **_OFF},
        rules=("err804",),
        source_title="CUDA Compatibility, forward compatibility",
        source_url="https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html",
    ),
    Symptom(
        key="cuda-999",
        message="CUDA unknown error - this may be due to an incorrectly set up environment",
        patterns=(
            r"CUDA unknown error - this may be due to an incorrectly set up environment",
            r"\bError 999: unknown error",
            r"cudaErrorUnknown\b",
        ),
        anchors=("cuda unknown error", "error 999: unknown", "cudaerrorunknown"),
        component="nvidia-driver",
        meaning="The driver lists the card, and CUDA still cannot start (error 999).",
        causes=(
            Cause(
                text="The machine slept, and the module nvidia_uvm kept a stale state.",
                sign="It worked before the machine was suspended.",
                remedy="sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm (no program may use the card meanwhile)",
                excluded_by=("uvm-after-suspend",),
            ),
            Cause(
                text="CUDA_VISIBLE_DEVICES was changed after the program had started CUDA.",
                sign="The program sets it itself.",
                remedy="Set it before the program starts.",
            ),
            Cause(
                text="The device file /dev/nvidia-uvm is missing.",
                sign="ls -l /dev/nvidia-uvm fails.",
                remedy="sudo nvidia-modprobe -c 0 -u",
                excluded_by=("uvm-device-missing",),
            ),
        ),
        ask=COLLECT_ENV,
        states={"cuda.init_code": 999, **_OFF},
        rules=("uvm-after-suspend", "uvm-device-missing"),
        source_title="pytorch/pytorch issue 88639: unknown error after resume",
        source_url="https://github.com/pytorch/pytorch/issues/88639",
    ),
    Symptom(
        key="ptx-toolchain",
        message="the provided PTX was compiled with an unsupported toolchain",
        patterns=(r"provided PTX was compiled with an unsupported toolchain", r"cudaErrorUnsupportedPtxVersion"),
        anchors=("unsupported toolchain", "cudaerrorunsupportedptxversion"),
        component="nvidia-driver",
        meaning=(
            "A kernel was built with a newer CUDA toolkit than the driver can compile for (error 222). Code "
            "for exactly "
            "this card would have run; intermediate code (PTX) needs the driver to be as new as the toolkit."
        ),
        causes=(
            Cause(
                text="The driver is older than the toolkit that built the kernels.",
                sign="nvidia-smi shows a lower CUDA version than the program was built with.",
                remedy=(
                    "Use a build for the CUDA version that nvidia-smi shows, or update the driver as far as the card "
                    "allows."
                ),
                excluded_by=("minor-compat-ptx",),
            ),
            Cause(
                text="The build has no code for exactly this card, so that the driver compiles it.",
                sign="torch.cuda.get_arch_list() lacks the card's capability.",
                remedy="Use a build with code for the card.",
                excluded_by=("kernels-missing",),
            ),
        ),
        ask=COLLECT_ENV,
        rules=("minor-compat-ptx", "driver-too-old", "kernels-missing"),
        source_title="CUDA Compatibility, minor version compatibility",
        source_url="https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html",
    ),
    Symptom(
        key="kernel-image-invalid",
        message="CUDA error: device kernel image is invalid",
        patterns=(r"device kernel image is invalid", r"cudaErrorInvalidKernelImage"),
        anchors=("kernel image is invalid", "cudaerrorinvalidkernelimage"),
        component="nvidia-driver",
        meaning="The driver cannot load the code that the program carries for the card (error 200).",
        causes=(
            Cause(
                text="The driver is older than the toolkit that built the program.",
                sign="nvidia-smi shows a lower CUDA version than the program was built with.",
                remedy=(
                    "Use a build for the CUDA version that nvidia-smi shows, or update the driver as far as the card "
                    "allows."
                ),
                excluded_by=("driver-too-old",),
            ),
            Cause(
                text="A file of the program is damaged, or was built for something else.",
                sign="Other programs run on the card.",
                remedy="Install the program again, without its cache.",
            ),
        ),
        ask=NVIDIA_SMI,
        rules=("driver-too-old", "minor-compat-ptx"),
        source_title="CUDA Runtime API, cudaError",
        source_url="https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
    ),
    Symptom(
        key="libcuda-missing",
        message="libcuda.so.1: cannot open shared object file: No such file or directory",
        patterns=(
            r"libcuda\.so(?:\.1)?: cannot open shared object file",
            r"Could not load (?:dynamic )?library '?libcuda\.so",
        ),
        anchors=("libcuda.so",),
        component="nvidia-driver",
        meaning="libcuda is part of the NVIDIA driver, not of the CUDA toolkit, and no folder that is searched has it.",
        causes=(
            Cause(
                text="The container was started without the GPU.",
                sign="nvidia-smi works on the host and not in the container.",
                remedy="Start it with --gpus all.",
                favoured_by=("container",),
            ),
            Cause(
                text="The driver is not installed.",
                sign="nvidia-smi fails on the host.",
                remedy="Install the driver for this card.",
            ),
            Cause(
                text="In WSL2, /usr/lib/wsl/lib is not searched.",
                sign="ls -l /usr/lib/wsl/lib/libcuda.so.1 shows the file.",
                remedy="sudo ldconfig /usr/lib/wsl/lib",
            ),
        ),
        ask=NVIDIA_SMI,
        states=_OFF,
        rules=("smi-no-driver", "wsl2-linux-driver"),
        source_title="CUDA on WSL User Guide",
        source_url="https://docs.nvidia.com/cuda/wsl-user-guide/index.html",
    ),
)
