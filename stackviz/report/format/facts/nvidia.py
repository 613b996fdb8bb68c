"""NVIDIA's driver: kernel module, NVML, device files, NVSwitch.

Sources on Linux: /proc/driver/nvidia/version, modules.dep(5), the driver's README (device files), `systemctl show`.
What has no question here is read by the nvidia probe from NVML or nvidia-smi.
"""

import platform
import re

from stackviz.report.format.agent_texts import OTHER_SYSTEM
from stackviz.report.format.facts.asking import MissingFact, Surroundings
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=70, probe="nvidia")

_MODULE_FILE = re.compile(r"/nvidia(?:-(?:current|tesla|legacy|open|\d+xx)[\w-]*)?\.ko")
_NVIDIA_PCI_VENDOR = "0x10de"
_SWITCH_CLASS = "0x0680"  # a bridge that is none of the usual ones
_FABRIC_MANAGER = "nvidia-fabricmanager"
_UNIT_FOLDERS = ("/usr/lib/systemd/system", "/lib/systemd/system", "/etc/systemd/system")


FACTS.text(
    "nvidia.driver_version", "kernel driver: 560.35.03", command="nvidia-smi --query-gpu=driver_version --format=csv"
)


FACTS.text("nvidia.driver_kind", "open, proprietary, WDDM, TCC or MCDM")


FACTS.count("nvidia.card_count", "cards the driver lists, lost ones included", least=0)


FACTS.count("nvidia.cards_lost", "cards the driver lists that do not answer", least=0)


def is_wsl(around: Surroundings) -> bool:
    return "microsoft" in (around.read("/proc/version") or "").lower()


def _with_kernel_driver(around: Surroundings) -> None:
    """Raises Missing where the driver is not a module of this kernel."""
    if around.system != "Linux":
        raise MissingFact("not_applicable", OTHER_SYSTEM.format(systems="Linux"))
    if is_wsl(around):
        raise MissingFact("not_applicable", "the driver is the one of Windows")


def loaded_module(around: Surroundings) -> tuple[str, bool] | None:
    """Version of the kernel module that is loaded and whether it is the open one."""
    text = around.read("/proc/driver/nvidia/version") or ""
    match = re.search(r"NVRM version: NVIDIA UNIX (Open )?.*?Kernel Module(?: for \S+)?\s+(\d+\.[\d.]+)", text)
    return (match[2], bool(match[1])) if match else None


@FACTS.text(
    "nvidia.kernel_module_version",
    "version of the kernel module that is loaded",
    command="cat /proc/driver/nvidia/version",
)
def kernel_module_version(around: Surroundings) -> str:
    _with_kernel_driver(around)
    loaded = loaded_module(around)
    if loaded is None:
        raise MissingFact("not_applicable", "no kernel module of NVIDIA is loaded")
    return loaded[0]


FACTS.text("nvidia.nvml_version", "version of NVML, the library nvidia-smi asks")


FACTS.text("nvidia.nvml_error", "how NVML or nvidia-smi failed: Driver/library version mismatch; absent if it did not")


@FACTS.truth("nvidia.uvm_device", "the device file /dev/nvidia-uvm is there", command="ls -l /dev/nvidia-uvm")
def uvm_device(around: Surroundings) -> bool:
    _with_kernel_driver(around)
    return around.path("/dev/nvidia-uvm").exists()


@FACTS.truth("nvidia.module_installed", "a kernel module of NVIDIA is installed for the running kernel")
def module_installed(around: Surroundings) -> bool | None:
    """modules.dep lists what is installed for the running kernel; containers rarely see it."""
    _with_kernel_driver(around)
    if loaded_module(around):
        return True
    listed = around.read(f"/lib/modules/{platform.release()}/modules.dep")
    return None if listed is None else bool(_MODULE_FILE.search(listed))


def pci_devices(around: Surroundings, *classes: str) -> int:
    """NVIDIA devices on the bus whose class begins with one of these."""
    devices = around.path("/sys/bus/pci/devices")
    return sum(
        around.read(f"/sys/bus/pci/devices/{device.name}/vendor") == _NVIDIA_PCI_VENDOR
        and (around.read(f"/sys/bus/pci/devices/{device.name}/class") or "").startswith(classes)
        for device in (devices.iterdir() if devices.is_dir() else ())
    )


@FACTS.count("nvidia.nvswitches", "NVSwitch chips of the machine", least=0)
def nvswitches(around: Surroundings) -> int:
    """Machines with NVLink 5 keep their switches off the bus: none here does not mean none."""
    _with_kernel_driver(around)
    count = pci_devices(around, _SWITCH_CLASS)
    if not count:
        raise MissingFact("not_applicable", "no NVSwitch on the PCI bus")
    return count


@FACTS.text(
    "nvidia.fabric_manager",
    "state of the fabric manager's service: active, inactive, failed",
    command="systemctl status nvidia-fabricmanager",
)
def fabric_manager(around: Surroundings) -> str | None:
    _with_kernel_driver(around)
    has_unit = any(around.path(f"{folder}/{_FABRIC_MANAGER}.service").exists() for folder in _UNIT_FOLDERS)
    if not has_unit and not pci_devices(around, _SWITCH_CLASS):
        raise MissingFact("not_applicable", "no NVSwitch, and no fabric manager installed")
    output = around.run("systemctl", "show", "-p", "LoadState", "-p", "ActiveState", _FABRIC_MANAGER)
    if "LoadState=not-found" in output:
        raise MissingFact("not_installed", "the fabric manager is not installed")
    match = re.search(r"ActiveState=([\w-]+)", output)
    return match[1] if match else None


FACTS.text("nvidia.module_kernels", "kernels for which dkms has installed NVIDIA's module, space separated")
FACTS.text("nvidia.topology", "links between cards as nvidia-smi topo prints them: 0-1:NV12 0-2:SYS")
