"""Return values of NVML, by name and text: a message for each kind of fault."""

from dataclasses import replace

from stackviz.report.messages.commands import NVIDIA_SMI, NVIDIA_SMI_Q
from stackviz.report.messages.messages import nvidia_smi
from stackviz.report.messages.messages.cuda_codes import VERSIONS, WRONG_CALL
from stackviz.report.messages.symptom import Cause, Family, coded, table_rows, text_pattern
from stackviz.report.messages.tables import code_members

_NVML = ("NVML API Reference, return values", "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html")

_SYMPTOMS = (
    coded(
        "nvml-not-supported",
        "pynvml.NVMLError_NotSupported: Not Supported",
        "NVML, which reads the state of cards, cannot give this figure for this card. Computing is not affected.",
        (
            Cause(
                text="The card, its driver mode (WDDM, vGPU, WSL) or this chip (Jetson, GB10) has no such reading.",
                sign="nvidia-smi shows N/A for it.",
                remedy="Let the program go on without it: update the monitor, or catch NVMLError_NotSupported.",
            ),
        ),
        NVIDIA_SMI,
        "nvidia-driver",
        _NVML,
        severity="note",
    ),
    coded(
        "nvml-library-missing",
        "pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found",
        "libnvidia-ml.so.1 (nvml.dll in Windows) is not found. It is part of the NVIDIA driver.",
        (
            Cause(
                text="The container was started without the GPU.",
                sign="nvidia-smi works on the host and not in the container.",
                remedy="Start it with --gpus all.",
            ),
            Cause(
                text="The driver is not installed, or the machine has no NVIDIA card.",
                sign="nvidia-smi fails on the host.",
                remedy="Install the driver for this card; without one, turn the NVIDIA part of the program off.",
            ),
        ),
        NVIDIA_SMI,
        "nvidia-driver",
        _NVML,
    ),
    coded(
        "nvml-function-missing",
        "pynvml.NVMLError_FunctionNotFound: Function Not Found",
        "The driver's NVML is older than the program that calls it. Computing is not affected.",
        (
            Cause(
                text="nvidia-ml-py or the monitor is newer than the driver.",
                sign="nvidia-smi shows an old branch of the driver.",
                remedy="Install an older nvidia-ml-py, or update the driver as far as the card allows.",
            ),
        ),
        NVIDIA_SMI,
        "nvidia-driver",
        _NVML,
        severity="warning",
    ),
    coded(
        "nvml-permission",
        "pynvml.NVMLError_NoPermission: Insufficient Permissions",
        "Changing clocks, power limits or MIG needs root; in a container it is not allowed.",
        (
            Cause(
                text="The program was run without the rights of root.",
                sign="The same command works with sudo.",
                remedy="Run it as root on the host.",
            ),
        ),
        NVIDIA_SMI,
        "nvidia-driver",
        _NVML,
    ),
    coded(
        "nvml-lost",
        "pynvml.NVMLError_GpuNotFound: GPU not found",
        "NVML gets no answer from a card that the driver knows.",
        (
            Cause(
                text="The card fell off the bus, or hangs.",
                sign="sudo dmesg shows Xid 79, or lines of GSP.",
                remedy="Save the work on the other cards, then reboot; power the machine off if that does not help.",
            ),
            Cause(
                text="The index or UUID is of another machine, or the card was renumbered.",
                sign="nvidia-smi -L lists the card under another name.",
                remedy="Use the name that nvidia-smi -L prints now.",
            ),
        ),
        NVIDIA_SMI,
        "hardware",
        _NVML,
        rules=("cards-lost",),
    ),
    coded(
        "nvml-reset-required",
        "GPU requires reset",
        "The card is in a state that only a reset ends.",
        (
            Cause(
                text="An error of memory or firmware has stopped the card.",
                sign="sudo dmesg shows Xid lines.",
                remedy="End what runs on the card, then: sudo nvidia-smi --gpu-reset -i 0 (its number), or reboot.",
            ),
        ),
        NVIDIA_SMI_Q,
        "hardware",
        _NVML,
    ),
    coded(
        "nvml-power",
        "pynvml.NVMLError_InsufficientPower: Insufficient External Power",
        "The power cables of the card are not attached as it needs them.",
        (
            Cause(
                text="A power cable of the card is loose, missing, or shared with another card.",
                remedy="Power off and seat each cable, one of the supply for each socket of the card.",
            ),
        ),
        NVIDIA_SMI_Q,
        "hardware",
        _NVML,
    ),
    coded(
        "nvml-inforom",
        "WARNING: infoROM is corrupted at gpu 0000:01:00.0",
        "The small memory of the card with its serial number and counters is damaged. Computing goes on.",
        (
            Cause(
                text="A reset or power cut fell into a write, or the chip is worn.",
                sign="nvidia-smi prints it at each call.",
                remedy="Ask the vendor: the card works on, and ECC counters may be lost.",
            ),
        ),
        NVIDIA_SMI_Q,
        "hardware",
        _NVML,
        severity="note",
    ),
    coded(
        "nvml-blocked",
        "Failed to initialize NVML: GPU access blocked by the operating system",
        "In WSL2, Windows does not hand this card on: WSL needs a card and a driver in WDDM mode.",
        (
            Cause(
                text="The card is in TCC mode (data-center cards), which WSL does not serve.",
                sign="nvidia-smi in Windows shows TCC in place of WDDM.",
                remedy="In Windows as administrator: nvidia-smi -dm 0 (WDDM), then restart Windows.",
            ),
            Cause(
                text="The driver in Windows is missing, too old, or was updated while WSL ran.",
                sign="nvidia-smi fails in Windows too, or worked before.",
                remedy="Update the NVIDIA driver in Windows as far as the card allows, then: wsl --shutdown",
            ),
            Cause(
                text="A driver was installed inside Linux and hides that of WSL.",
                sign="dpkg -l lists nvidia-driver or libnvidia-compute in WSL.",
                remedy="Remove these packages in WSL; the driver is that of Windows only.",
            ),
        ),
        NVIDIA_SMI,
        "wsl",
        ("CUDA on WSL User Guide", "https://docs.nvidia.com/cuda/wsl-user-guide/index.html"),
    ),
    coded(
        "nvml-in-use",
        "Unable to set MIG mode: In use by another client",
        "A program or service holds the card, so that its mode cannot be changed or it cannot be reset.",
        (
            Cause(
                text="Programs, a monitor (DCGM) or the display use the card.",
                sign="fuser -v /dev/nvidia*, as root, lists them.",
                remedy="Stop them (nvidia-persistenced, dcgm and the device plugin too), then try again.",
            ),
        ),
        NVIDIA_SMI,
        "nvidia-driver",
        _NVML,
    ),
    coded(
        "nvml-resources",
        "Unable to create a GPU instance on GPU 0 using profile 9: Insufficient Resources",
        "The slices of the card that are free do not hold an instance of this profile (MIG).",
        (
            Cause(
                text="Other instances take the slices, or the profile is none of this card.",
                sign="nvidia-smi mig -lgip shows 0 free instances of the profile.",
                remedy="Remove instances that nothing uses, or choose a smaller profile.",
            ),
        ),
        "nvidia-smi -L",
        "nvidia-driver",
        ("NVIDIA, MIG user guide", "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/"),
    ),
    coded(
        "nvml-usage",
        "pynvml.NVMLError_Uninitialized: Uninitialized",
        "A program called NVML in a way that it does not allow. Card and driver are in order.",
        (WRONG_CALL, VERSIONS),
        NVIDIA_SMI,
        "nvidia-driver",
        _NVML,
    ),
)
_KNOWN = {symptom.key: symptom for symptom in (*_SYMPTOMS, *nvidia_smi.SYMPTOMS)}
_ROWS = table_rows("nvml")
_TEXTS = text_pattern(row["text"] for row in _ROWS)
_BARE = {
    "gpu requires reset": "nvml-reset-required",
    "failed to initialize nvml": "nvml-library-missing",
    "inforom is corrupted": "nvml-inforom",
    "used by some other process": "nvml-in-use",
    "used by one or more other processes": "nvml-in-use",
}
"""What nvidia-smi prints by itself."""

FAMILIES = (
    Family(
        patterns=(
            r"\b(?P<code>NVML_ERROR_[A-Z_]{4,40}|NVMLError_[A-Za-z]{4,30})\b",
            r"\bNVML\b[^\n]{0,60}?: (?P<code>ERROR_[A-Z_]{4,40})\b",
            rf"nvml\w{{0,30}}\b[^\n]{{0,60}}?[:'\"(] ?(?P<code>{_TEXTS})\b",
            (
                r"\b(?:Unable|Failed) to (?!determine the device)[^\n]{1,80}?\b(?:GPU|MIG)\b[^\n]{0,60}?: "
                rf"(?P<code>{_TEXTS})\b"
            ),
            rf"\b(?P<code>{'|'.join(_BARE)})\b(?! ?:)",
        ),
        anchors=("nvml", "for gpu", "on gpu", "mig mode", "gpu instance", "compute instance", *_BARE),
        members=code_members("nvml", _KNOWN, ["name", "text"])
        | {
            f"nvmlerror_{row['name'].removeprefix('NVML_ERROR_').replace('_', '').lower()}": _KNOWN[row["key"]]
            for row in _ROWS
        }
        | {text: _KNOWN[key] for text, key in _BARE.items()}
        | {row["name"].removeprefix("NVML_").lower(): _KNOWN[row["key"]] for row in _ROWS},
    ),
)

SYMPTOMS = (
    replace(
        coded(
            "rows-pending",
            "Remapped Rows: Pending : Yes",
            "Failed memory of the card waits to be replaced by spare rows, which happens at the next reset.",
            (
                Cause(
                    text="A cell of the memory failed. The driver takes its row or page out of use at the next reset.",
                    remedy="End what runs on the card, then: sudo nvidia-smi --gpu-reset -i 0 (its number), or reboot.",
                ),
            ),
            NVIDIA_SMI_Q,
            "hardware",
            ("NVIDIA, GPU memory error management", "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/"),
            rules=("row-remap-pending",),
        ),
        patterns=(
            (
                r"\A(?:[^\n]{0,200}\n){0,4}[ \t]{0,12}Remapped Rows(?: ?:)? "
                r"(?:[^\n]{0,80}\n){0,6}?[^\n]{0,40}\bPending ?: Yes"
            ),
        ),
        anchors=("remapped rows",),
    ),
)
