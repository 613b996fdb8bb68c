"""Where NVIDIA cards are reached in another way: Jetson, WSL2, and machines with NVSwitch."""

from stackviz.report.messages.commands import COLLECT_ENV, NVIDIA_SMI
from stackviz.report.messages.symptom import Cause, Family, coded, text_family

_JETSON = ("NVIDIA, Jetson Linux developer guide", "https://docs.nvidia.com/jetson/archives/")
_WSL = ("CUDA on WSL User Guide", "https://docs.nvidia.com/cuda/wsl-user-guide/index.html")
_FABRIC = (
    "NVIDIA, Fabric Manager user guide",
    "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/",
)
_FABRIC_STATUS = "systemctl status nvidia-fabricmanager"

_SYMPTOMS = (
    coded(
        "jetson-devices",
        "NvRmMemInitNvmap failed with Permission denied",
        "This is a Jetson, and the program may not open the device files of its GPU.",
        (
            Cause(
                text="The user is not in the groups video and render.",
                sign="groups does not print video.",
                remedy="sudo usermod -aG video,render $USER, then log in again.",
            ),
            Cause(
                text="The container was started without the runtime of NVIDIA.",
                sign="The same program runs outside it.",
                remedy="Start it with --runtime nvidia, from an image for this release of JetPack (L4T).",
            ),
        ),
        "ls -l /dev/nvidia*",
        "nvidia-driver",
        _JETSON,
    ),
    coded(
        "jetson-memory",
        "NvMapMemAllocInternalTagged: 1075072515 error 12",
        "The GPU of a Jetson shares the memory of the machine, and got none for this (error 12).",
        (
            Cause(
                text="Model and programs need more than the machine has, or its memory is fragmented.",
                sign="free -h shows little available.",
                remedy="Close the desktop and other programs, a smaller model or context; drop caches or reboot.",
            ),
            Cause(
                text="This release of Jetson Linux has a fault in allocating large blocks.",
                sign="Much memory is free, and it began with an update.",
                remedy="Install the newest release of Jetson Linux for the board.",
            ),
        ),
        COLLECT_ENV,
        "nvidia-driver",
        _JETSON,
    ),
    coded(
        "wsl-no-device",
        "ls: cannot access '/dev/dxg': No such file or directory",
        "In WSL2 the card is reached by /dev/dxg, which Windows makes, and it is not there.",
        (
            Cause(
                text="The distribution runs as WSL 1.",
                sign="wsl -l -v in Windows shows 1.",
                remedy="In Windows: wsl --set-version Ubuntu 2 (the name that wsl -l -v shows)",
            ),
            Cause(
                text="WSL, its kernel or Windows is too old, or GPU support is off in .wslconfig.",
                sign="wsl --version fails, or .wslconfig has gpuSupport=false.",
                remedy="In Windows: wsl --update, then: wsl --shutdown",
            ),
            Cause(
                text="The container was started without the card.",
                sign="/dev/dxg is there outside the container.",
                remedy="Start it with --gpus all; without NVIDIA, --device /dev/dxg and -v /usr/lib/wsl:/usr/lib/wsl",
            ),
        ),
        "wsl --version",
        "wsl",
        _WSL,
    ),
    coded(
        "wsl-harmless",
        "/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link",
        "WSL2 prints this on machines whose GPU works too. It is not the fault.",
        (
            Cause(
                text="Windows lays its libraries down as copies, and its kernel lacks some queries.",
                remedy="Nothing has to be done; look at the other lines.",
            ),
        ),
        NVIDIA_SMI,
        "wsl",
        _WSL,
        severity="note",
    ),
    coded(
        "fabric-version",
        "fabric manager NVIDIA GPU driver interface version 580.95.05 don't match with driver version 580.126.20",
        "The fabric manager is of another version than the driver, so it ends, and CUDA fails with error 802.",
        (
            Cause(
                text="The driver was updated without the fabric manager, or the other way round.",
                sign="The message names both versions.",
                remedy=(
                    "Install nvidia-fabricmanager in exactly the driver's version, then: sudo systemctl restart "
                    "nvidia-fabricmanager"
                ),
            ),
        ),
        _FABRIC_STATUS,
        "nvidia-driver",
        _FABRIC,
    ),
    coded(
        "fabric-no-switch",
        "Request to query NVSwitch device information from NVSwitch driver failed with error: NV_WARN_NOTHING_TO_DO",
        "The fabric manager finds no NVSwitch. It is needed only where the cards are connected by NVSwitch.",
        (
            Cause(
                text="This machine has no NVSwitch (PCIe cards, bridges, one card).",
                sign="lspci lists no bridge of NVIDIA; nvidia-smi topo -m shows no NV between all cards.",
                remedy="Nothing is broken; the service may be turned off: sudo systemctl disable nvidia-fabricmanager",
            ),
            Cause(
                text="In a virtual machine the switches belong to the host, or they need the NVLink5 packages (NVLSM).",
                sign="The host lists NVSwitch, or the cards are B200 or newer.",
                remedy="Ask whoever runs the host; for B200 and newer install nvlsm beside the fabric manager.",
            ),
        ),
        _FABRIC_STATUS,
        "nvidia-driver",
        _FABRIC,
        severity="warning",
    ),
    coded(
        "fabric-failed",
        "failed to initialize all the NVSwitch devices",
        "The fabric manager could not set up the NVSwitches, so CUDA cannot start (error 802).",
        (
            Cause(
                text="A switch, link or card has failed.",
                sign="sudo dmesg shows SXid or Xid 74 lines.",
                remedy="Reset all cards of the machine together, or reboot it; have the board replaced if it returns.",
            ),
            Cause(
                text="Fabric manager and driver are of two versions.",
                sign="The log of the fabric manager names two versions.",
                remedy="Install nvidia-fabricmanager in exactly the driver's version.",
            ),
        ),
        _FABRIC_STATUS,
        "nvidia-driver",
        _FABRIC,
    ),
)

FAMILIES = (
    text_family("platforms", _SYMPTOMS),
    Family(
        patterns=(r"\b(?P<code>Nv(?:Rm|Map|Gpu|Host)[A-Z]\w{3,40}[^\n]{0,40}?(?:fail|error))",),
        anchors=("nvrm", "nvmap", "nvgpu", "nvhost"),
        members={},
        is_general=True,
        unlisted=_SYMPTOMS[0],
    ),
)
