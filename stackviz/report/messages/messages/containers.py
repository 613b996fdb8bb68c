"""Docker and the NVIDIA container toolkit; the driver's own log."""

from stackviz.report.messages.commands import NVIDIA_SMI
from stackviz.report.messages.symptom import Cause, Symptom

_TOOLKIT = "NVIDIA Container Toolkit, installation guide"
_TOOLKIT_URL = "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html"
_NO_TOOLKIT = Cause(
    text="The NVIDIA Container Toolkit is not installed, or Docker does not know it yet.",
    sign="docker info lists no runtime nvidia.",
    remedy=(
        "Install nvidia-container-toolkit, then: sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl "
        "restart docker (running containers stop)"
    ),
)
_OF_THE_LINE = r"(?:(?:\[[ \d.]{3,16}\] )?NVRM: )?"
"""What the kernel puts before each line of a message that it prints in several."""

SYMPTOMS = (
    Symptom(
        key="docker-no-gpu-driver",
        message='docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]]',
        patterns=(
            (
                r"could not select device driver [^\w\s]{0,6}(?:nvidia)?[^\w\s]{0,6} with capabilities: "
                r"\[\[(?:gpu|compute)"
            ),
        ),
        anchors=("could not select device driver",),
        component="linux",
        meaning="Docker was asked for a GPU and has nothing that hands one to a container.",
        causes=(
            _NO_TOOLKIT,
            Cause(
                text="Docker is the snap package or Docker Desktop for Linux, which do not use the host's toolkit.",
                sign="docker info names a snap folder or Docker Desktop.",
                remedy="Install Docker Engine from its own packages.",
            ),
        ),
        ask="docker info",
        rules=("docker-runtime",),
        source_title=_TOOLKIT,
        source_url=_TOOLKIT_URL,
    ),
    Symptom(
        key="docker-unknown-runtime",
        message="docker: Error response from daemon: unknown or invalid runtime name: nvidia",
        patterns=(r"[Uu]nknown (?:or invalid )?runtime (?:name|specified):? nvidia",),
        anchors=("runtime name: nvidia", "runtime specified nvidia"),
        component="linux",
        meaning="A container asks for the runtime nvidia, which Docker does not know.",
        causes=(_NO_TOOLKIT,),
        ask="docker info",
        rules=("docker-runtime",),
        source_title=_TOOLKIT,
        source_url=_TOOLKIT_URL,
    ),
    Symptom(
        key="container-cli-libraries",
        message="nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1",
        patterns=(
            (
                r"nvidia-container-cli: initialization error: (?:load library failed: (?P<detail>[\w.-]{3,40})|"
                r"nvml error|"
                r"driver (?:error|not loaded|rpc error)|WSL environment detected but no adapters were found)"
            ),
        ),
        anchors=("nvidia-container-cli: init",),
        component="nvidia-driver",
        meaning="The container toolkit works and finds no working NVIDIA driver on the host.",
        causes=(
            Cause(
                text="The driver is not installed on the host, or its module is not loaded.",
                sign="nvidia-smi fails on the host.",
                remedy="Make nvidia-smi work on the host first.",
            ),
            Cause(
                text="Docker runs in a virtual machine or a snap that does not see the driver.",
                sign="nvidia-smi works on the host all the same.",
                remedy="Install Docker Engine from its own packages.",
            ),
            Cause(
                text="In WSL2, the driver of Windows is missing or old.",
                sign="The message says WSL environment detected.",
                remedy="Install in Windows the newest NVIDIA driver that supports the card, then: wsl --shutdown",
                favoured_by=("wsl",),
            ),
        ),
        ask=NVIDIA_SMI,
        rules=("smi-no-driver", "nvml-mismatch"),
        source_title=_TOOLKIT,
        source_url=_TOOLKIT_URL,
    ),
    Symptom(
        key="container-cuda-requirement",
        message=(
            "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your driver to "
            "a newer version"
        ),
        patterns=(r"requirement error: unsatisfied condition: (?P<detail>cuda ?>= ?\d{1,2}\.\d)",),
        anchors=("unsatisfied condition",),
        component="nvidia-driver",
        meaning="The image says which CUDA version the driver must support, and the host's driver does not.",
        causes=(
            Cause(
                text="The image is newer than the host's driver.",
                sign="nvidia-smi on the host shows a lower CUDA version than the message.",
                remedy="Use an image for that CUDA version, or update the host's driver as far as the card allows.",
            ),
        ),
        ask=NVIDIA_SMI,
        rules=("driver-too-old",),
        source_title="NVIDIA Container Toolkit, docker specialized configurations: constraints",
        source_url="https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html",
    ),
    Symptom(
        key="nvrm-version-mismatch",
        message=(
            "NVRM: API mismatch: the client has the version 550.54.14, but this kernel module has the version "
            "535.154.05"
        ),
        patterns=(
            (
                rf"NVRM: API mismatch: the client (?:[^\n]{{1,60}} )?{_OF_THE_LINE}has the version "
                rf"(?P<nvidia__nvml_version>\d{{3}}\.[\d.]{{2,12}}?),? (?:[^\n]{{1,160}} )?{_OF_THE_LINE}"
                r"this kernel module has "
                rf"{_OF_THE_LINE}the version (?P<nvidia__kernel_module_version>\d{{3}}\.[\d.]{{1,11}}\d)"
            ),
        ),
        anchors=("nvrm: api mismatch",),
        component="nvidia-driver",
        meaning="The NVIDIA libraries are of another version than the kernel module that is loaded.",
        causes=(
            Cause(
                text="The driver was updated and the old module is still loaded.",
                sign="The library is newer than the module.",
                remedy="Reboot when nothing else runs on the machine.",
                excluded_by=("nvml-mismatch",),
            ),
            Cause(
                text="The update built no new module: the old one is on the disk still, and a reboot loads it again.",
                sign="modinfo -F version nvidia prints the old version.",
                remedy="sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall, then reboot.",
            ),
            Cause(
                text="A container image brings NVIDIA libraries of its own.",
                sign="nvidia-smi works on the host.",
                remedy="Use an image without driver libraries; the container toolkit brings those of the host.",
                favoured_by=("container",),
            ),
        ),
        ask="cat /proc/driver/nvidia/version",
        rules=("nvml-mismatch",),
        source_title="NVIDIA/ubuntu-packaging-nvidia-driver issue 3",
        source_url="https://github.com/NVIDIA/ubuntu-packaging-nvidia-driver/issues/3",
    ),
)
