"""nvidia-smi and NVML: the driver does not answer. The importers of nvidia-smi read these messages."""

from stackviz.report.messages.commands import DMESG
from stackviz.report.messages.symptom import Cause, Symptom

_GUIDE = "NVIDIA Driver Installation Guide"
_GUIDE_URL = "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"
_NVML = "NVML API Reference, return values"
_NVML_URL = "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html"

_TWO_VERSIONS = (
    Cause(
        text="The driver was updated, often by the distribution itself, and the old module is still loaded.",
        sign="cat /proc/driver/nvidia/version names an older version than the package that is installed.",
        remedy=(
            "Reboot when nothing else runs on the machine. Without a reboot, once no program uses the card: "
            "sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia"
        ),
        excluded_by=("nvml-mismatch",),
    ),
    Cause(
        text="An image brings the driver's libraries, and the host has another driver.",
        sign="nvidia-smi works on the host and not in the container.",
        remedy="Use an image without driver libraries; the container toolkit brings those of the host.",
    ),
    Cause(
        text="Two drivers are installed, one by the distribution and one by NVIDIA's own installer.",
        sign="It is still there after a reboot.",
        remedy="Remove one of them, then install the other again.",
    ),
)

SYMPTOMS = (
    Symptom(
        key="nvml-version-mismatch",
        message="Failed to initialize NVML: Driver/library version mismatch",
        patterns=(),
        anchors=(),
        component="nvidia-driver",
        meaning=(
            "The kernel module that is loaded and the driver's libraries are of two versions. Every program that uses "
            "the card fails until they agree."
        ),
        causes=_TWO_VERSIONS,
        ask="cat /proc/driver/nvidia/version",
        rules=("nvml-mismatch",),
        source_title=_NVML,
        source_url=_NVML_URL,
    ),
    Symptom(
        key="libcuda-version-mismatch",
        message=(
            "kernel version 470.161.3 does not match DSO version 470.199.2 -- cannot find working devices in this "
            "configuration"
        ),
        patterns=(
            (
                r"kernel version \d{3}\.\d{1,3}(?:\.\d{1,3})? does not match DSO version \d{3}\.\d{1,3}(?:\.\d{1,3})?"
                r"(?: -- cannot find working devices in this configuration)?"
            ),
        ),
        anchors=("does not match dso version",),
        component="nvidia-driver",
        meaning=(
            "XLA names two versions: that of the kernel module that is loaded, and that of the libcuda that it found. "
            "CUDA starts only where they agree."
        ),
        causes=_TWO_VERSIONS,
        ask="cat /proc/driver/nvidia/version",
        rules=("nvml-mismatch",),
        source_title="jax-ml/jax issue 15961: the kernel's version and that of libcuda differ",
        source_url="https://github.com/jax-ml/jax/issues/15961",
    ),
    Symptom(
        key="smi-cannot-communicate",
        message=(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
            "NVIDIA driver is installed and running."
        ),
        patterns=(),
        anchors=(),
        component="nvidia-driver",
        meaning="nvidia-smi is installed, and the driver's kernel module is not loaded.",
        causes=(
            Cause(
                text="The kernel was updated, and the module was not built for it.",
                sign="dkms status does not list the running kernel, which uname -r prints.",
                remedy="Install the headers of this kernel, then build the module: sudo dkms autoinstall",
            ),
            Cause(
                text="Secure Boot refuses the module, which is not signed by a key that it knows.",
                sign="mokutil --sb-state prints enabled, and sudo modprobe nvidia says key was rejected by service.",
                remedy="Enrol the key that signed the module (mokutil --import), or turn Secure Boot off.",
                excluded_by=("secure-boot",),
            ),
            Cause(
                text="nouveau, the driver of the kernel, holds the card.",
                sign="lsmod | grep nouveau prints a line.",
                remedy="Install the driver from the distribution's packages, which keep nouveau away, and reboot.",
                excluded_by=("nouveau",),
            ),
            Cause(
                text="This is WSL, where nvidia-smi of Linux can reach nothing.",
                sign="uname -r contains microsoft.",
                remedy="Install the driver in Windows and none in Linux: /usr/lib/wsl/lib/nvidia-smi is the right one.",
                favoured_by=("wsl",),
            ),
        ),
        ask="lsmod | grep -iE 'nvidia|nouveau'",
        rules=("smi-no-driver", "nouveau", "secure-boot"),
        source_title=_GUIDE,
        source_url=_GUIDE_URL,
    ),
    Symptom(
        key="nvml-unknown-error",
        message="Failed to initialize NVML: Unknown Error",
        patterns=(),
        anchors=(),
        component="nvidia-driver",
        meaning="NVML was refused by the system, without a reason that it knows.",
        causes=(
            Cause(
                text="A container has lost its cards: the host reloaded its services, and the cards were taken away.",
                sign="It worked when the container started, and nvidia-smi works on the host.",
                remedy="Start the container again.",
            ),
            Cause(
                text="The process may not open the device files.",
                sign="ls -l /dev/nvidia* shows files that this user may not read and write.",
                remedy="Add the user to the group that owns them, then log in again.",
            ),
        ),
        ask="ls -l /dev/nvidia*",
        rules=("nvml-unknown-container",),
        source_title="NVIDIA Container Toolkit, troubleshooting",
        source_url="https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html",
    ),
    Symptom(
        key="smi-no-devices",
        message="No devices were found",
        patterns=(),
        anchors=(),
        component="nvidia-driver",
        meaning="nvidia-smi reached the driver, and the driver has no card that it can use.",
        causes=(
            Cause(
                text="The driver's modules are not the ones for this card: Blackwell needs the open modules.",
                sign="sudo dmesg | grep -iE 'nvrm|xid' prints requires use of the NVIDIA open kernel modules.",
                remedy="Install the package of the same driver whose name ends in -open, and reboot.",
            ),
            Cause(
                text="The card failed to start, or fell off the bus.",
                sign="sudo dmesg | grep -iE 'nvrm|xid' prints RmInitAdapter failed, or an Xid.",
                remedy="Power the machine off and on again; check the card's power cables and its slot.",
            ),
            Cause(
                text="The card is given to a virtual machine, or belongs to another driver.",
                sign="lspci -nnk -d 10de: prints Kernel driver in use: vfio-pci or nouveau.",
                remedy="Give it back to the host: unbind it from that driver, or remove the setting that binds it.",
            ),
            Cause(
                text="The driver is too old for this card, or too new: it no longer supports it.",
                sign="lspci lists the card, and the driver's list of products does not.",
                remedy="Install a branch of the driver that supports the card.",
            ),
        ),
        ask=DMESG,
        rules=("smi-no-driver",),
        source_title=_GUIDE,
        source_url=_GUIDE_URL,
    ),
)
