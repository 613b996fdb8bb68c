"""How NVIDIA's driver is set up on Linux: modules, device files, libcuda, NVSwitch; asked beside its cards.

Sources: /proc/driver/nvidia/version, modules.dep(5), the driver's README (device files), the CUDA driver API (cuInit),
`systemctl show`. Nothing of it is asked where there is no sign of NVIDIA.
"""

import platform
import re
import sys

from stackviz.agent.probing.asking import Missing, Questions, Surroundings
from stackviz.importers.reading import FactSheet

__all__ = ["QUESTIONS", "ask_driver", "loaded_module", "pci_devices"]

QUESTIONS = Questions()

_NVIDIA_PCI_VENDOR = "0x10de"
_SWITCH_CLASS = "0x0680"  # a bridge that is none of the usual ones
_FABRIC_MANAGER = "nvidia-fabricmanager"
_UNIT_FOLDERS = ("/usr/lib/systemd/system", "/lib/systemd/system", "/etc/systemd/system")
_MODULE_FILE = re.compile(r"/nvidia(?:-(?:current|tesla|legacy|open|\d+xx)[\w-]*)?\.ko")
_INIT_TIMEOUT_S = 20.0
_INIT = """
import ctypes, sys
name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
try:
    library = ctypes.CDLL(name)
except OSError as error:
    print("missing", error)
    raise SystemExit
try:
    with open("/proc/self/maps") as maps:
        paths = [line.split(None, 5)[-1].strip() for line in maps if "libcuda.so" in line]
    print("path", paths[0])
except (OSError, IndexError):
    pass
sys.stdout.flush()
print("code", library.cuInit(0))
"""
"""Run in a child: cuInit may hang or crash where the driver is broken."""


def ask_driver(around: Surroundings, sheet: FactSheet, *, is_there: bool) -> None:
    """All of QUESTIONS, on Linux and where there is any sign of NVIDIA; cuInit on Windows too."""
    if not is_there:
        for name in QUESTIONS.names:
            sheet.lack(name, "not_applicable", "no sign of an NVIDIA card or driver")
        return
    QUESTIONS.ask(around, sheet)


def is_wsl(around: Surroundings) -> bool:
    return "microsoft" in (around.read("/proc/version") or "").lower()


def _with_kernel_driver(around: Surroundings) -> None:
    """Raises Missing where the driver is not a module of this kernel."""
    if around.system != "Linux":
        raise Missing("not_applicable", "asked on Linux only")
    if is_wsl(around):
        raise Missing("not_applicable", "the driver is the one of Windows")


def loaded_module(around: Surroundings) -> tuple[str, bool] | None:
    """Version of the kernel module that is loaded and whether it is the open one."""
    text = around.read("/proc/driver/nvidia/version") or ""
    match = re.search(r"NVRM version: NVIDIA UNIX (Open )?.*?Kernel Module(?: for \S+)?\s+(\d+\.[\d.]+)", text)
    return (match[2], bool(match[1])) if match else None


def pci_devices(around: Surroundings, *classes: str) -> int:
    """NVIDIA devices on the bus whose class begins with one of these."""
    devices = around.path("/sys/bus/pci/devices")
    return sum(
        around.read(f"/sys/bus/pci/devices/{device.name}/vendor") == _NVIDIA_PCI_VENDOR
        and (around.read(f"/sys/bus/pci/devices/{device.name}/class") or "").startswith(classes)
        for device in (devices.iterdir() if devices.is_dir() else ())
    )


@QUESTIONS.about("nvidia.kernel_module_version")
def kernel_module_version(around: Surroundings) -> str:
    _with_kernel_driver(around)
    loaded = loaded_module(around)
    if loaded is None:
        raise Missing("not_applicable", "no kernel module of NVIDIA is loaded")
    return loaded[0]


@QUESTIONS.about("nvidia.module_installed")
def module_installed(around: Surroundings) -> bool | None:
    """modules.dep lists what is installed for the running kernel; containers rarely see it."""
    _with_kernel_driver(around)
    if loaded_module(around):
        return True
    listed = around.read(f"/lib/modules/{platform.release()}/modules.dep")
    return None if listed is None else bool(_MODULE_FILE.search(listed))


@QUESTIONS.about("nvidia.uvm_device")
def uvm_device(around: Surroundings) -> bool:
    _with_kernel_driver(around)
    return around.path("/dev/nvidia-uvm").exists()


@QUESTIONS.about("nvidia.nvswitches")
def nvswitches(around: Surroundings) -> int:
    """Machines with NVLink 5 keep their switches off the bus: none here does not mean none."""
    _with_kernel_driver(around)
    count = pci_devices(around, _SWITCH_CLASS)
    if not count:
        raise Missing("not_applicable", "no NVSwitch on the PCI bus")
    return count


@QUESTIONS.about("nvidia.fabric_manager")
def fabric_manager(around: Surroundings) -> str | None:
    _with_kernel_driver(around)
    has_unit = any(around.path(f"{folder}/{_FABRIC_MANAGER}.service").exists() for folder in _UNIT_FOLDERS)
    if not has_unit and not pci_devices(around, _SWITCH_CLASS):
        raise Missing("not_applicable", "no NVSwitch, and no fabric manager installed")
    said = around.run("systemctl", "show", "-p", "LoadState", "-p", "ActiveState", _FABRIC_MANAGER)
    if "LoadState=not-found" in said:
        raise Missing("not_installed", "the fabric manager is not installed")
    match = re.search(r"ActiveState=([\w-]+)", said)
    return match[1] if match else None


def _init_answer(around: Surroundings) -> dict[str, str]:
    if around.system not in ("Linux", "Windows"):
        raise Missing("not_applicable", "asked on Linux and Windows only")
    said = around.run(sys.executable, "-P", "-c", _INIT, timeout_s=_INIT_TIMEOUT_S)
    answer = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
    if "missing" in answer:
        raise Missing("not_installed", "libcuda, part of the NVIDIA driver, cannot be loaded")
    return answer


@QUESTIONS.about("cuda.init_code")
def init_code(around: Surroundings) -> int | None:
    code = _init_answer(around).get("code", "")
    return int(code) if code.isdecimal() else None


@QUESTIONS.about("cuda.libcuda_path")
def libcuda_path(around: Surroundings) -> str | None:
    if around.system == "Windows":
        raise Missing("not_applicable", "Windows has one nvcuda.dll, in its system folder")
    return _init_answer(around).get("path")
