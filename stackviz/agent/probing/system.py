"""The system probe: operating system and machine, on Linux (with WSL), macOS and Windows. Its other half: processor.py.

Sources on Linux: /etc/os-release (os-release(5)), /proc/version (proc(5)), /sys/class/dmi, /sys/class/power_supply.
"""

import platform
import re

from stackviz.agent.probing import loading, processor
from stackviz.agent.probing.asking import Missing, Questions, Surroundings, only_on
from stackviz.importers.reading import Reading

__all__ = ["QUESTIONS", "probe_system"]

QUESTIONS = Questions()

_PLACEHOLDERS = {
    "to be filled by o.e.m.",
    "system product name",
    "system manufacturer",
    "default string",
    "none",
    "n/a",
}
"""What board makers leave in DMI, in lower case: it names nothing."""


def probe_system(around: Surroundings) -> Reading:
    reading = Reading("system")
    QUESTIONS.ask(around, reading.sheet)
    processor.QUESTIONS.ask(around, reading.sheet)
    loading.QUESTIONS.ask(around, reading.sheet)
    _find_system(around, reading)
    return reading


def _find_system(around: Surroundings, reading: Reading) -> None:
    """The operating system as a component. macOS is found by the apple probe, which asks the system itself."""
    kernel = platform.release()
    if around.system == "Linux":
        reading.found("linux", kernel, "os.uname")
        wsl = reading.facts.get("os.wsl")
        if wsl:
            reading.found("wsl", wsl, "/proc/version")
    elif around.system == "Windows":
        reading.found("windows", platform.version(), "platform.version")


# ---- operating system -----------------------------------------------------------------------------------------------


def _os_release(around: Surroundings) -> dict[str, str]:
    text = around.read("/etc/os-release") or around.read("/usr/lib/os-release") or ""
    pairs = re.findall(r"^([A-Z_]+)=[\"']?(.*?)[\"']?$", text, re.MULTILINE)
    return dict(pairs)


@QUESTIONS.about("os.name")
def os_name(around: Surroundings) -> str | None:
    if around.system == "Linux":
        return _os_release(around).get("NAME")
    return {"Darwin": "macOS"}.get(around.system, around.system)


@QUESTIONS.about("os.version")
def os_version(around: Surroundings) -> str | None:
    if around.system == "Linux":
        return _os_release(around).get("VERSION_ID")
    return platform.mac_ver()[0] if around.system == "Darwin" else platform.version()


@QUESTIONS.about("os.kernel")
def os_kernel(around: Surroundings) -> str:
    return f"{around.system} {platform.release()}"


@QUESTIONS.about("os.arch")
def os_arch(_around: Surroundings) -> str:
    return platform.machine()


@QUESTIONS.about("os.libc")
def os_libc(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    return " ".join(platform.libc_ver()).strip() or None


@QUESTIONS.about("os.wsl")
def os_wsl(around: Surroundings) -> str:
    only_on(around, "Linux")
    version = (around.read("/proc/version") or "").lower()
    if "microsoft" not in version:
        raise Missing("not_applicable", "not under the Windows Subsystem for Linux")
    return "2" if "wsl2" in version or "microsoft-standard" in version else "1"


# ---- machine --------------------------------------------------------------------------------------------------------


def _dmi(around: Surroundings, name: str) -> str | None:
    text = around.read(f"/sys/class/dmi/id/{name}")
    return None if text is None or text.lower() in _PLACEHOLDERS else text


@QUESTIONS.about("machine.model")
def machine_model(around: Surroundings) -> str | None:
    only_on(around, "Linux")  # Macs: the apple probe
    return around.read("/proc/device-tree/model") or _dmi(around, "product_name")


@QUESTIONS.about("machine.vendor")
def machine_vendor(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    return _dmi(around, "sys_vendor")


@QUESTIONS.about("machine.container")
def machine_container(around: Surroundings) -> str:
    only_on(around, "Linux")
    if around.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if around.environ.get("container"):
        return around.environ["container"]
    for mark, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if around.path(mark).exists():
            return kind
    groups = around.read("/proc/1/cgroup") or ""
    for kind in ("kubepods", "docker", "lxc", "garden", "containerd"):
        if kind in groups:
            return "kubernetes" if kind == "kubepods" else kind
    raise Missing("not_applicable", "no sign of a container")


@QUESTIONS.about("machine.virtualization")
def machine_virtualization(around: Surroundings) -> str:
    only_on(around, "Linux")
    maker = f"{around.read('/sys/class/dmi/id/sys_vendor')} {around.read('/sys/class/dmi/id/product_name')}".lower()
    for sign, kind in _HYPERVISORS.items():
        if sign in maker:
            return kind
    hypervisor = around.read("/sys/hypervisor/type")
    if hypervisor:
        return hypervisor
    if re.search(r"^flags\s*:.*\bhypervisor\b", around.read("/proc/cpuinfo") or "", re.MULTILINE):
        return "unnamed hypervisor"
    raise Missing("not_applicable", "no sign of a hypervisor")


_HYPERVISORS = {
    "qemu": "kvm",
    "kvm": "kvm",
    "amazon ec2": "kvm",
    "google compute engine": "kvm",
    "vmware": "vmware",
    "virtualbox": "virtualbox",
    "microsoft corporation virtual machine": "hyperv",
    "xen": "xen",
    "firecracker": "firecracker",
}


@QUESTIONS.about("machine.power_source")
def machine_power_source(around: Surroundings) -> str:
    only_on(around, "Linux")
    supplies = around.path("/sys/class/power_supply")
    kinds = {
        supply.name: around.read(f"/sys/class/power_supply/{supply.name}/type")
        for supply in (supplies.iterdir() if supplies.is_dir() else ())
    }
    for name, kind in kinds.items():
        if kind in {"Mains", "USB"} and around.read(f"/sys/class/power_supply/{name}/online") == "1":
            return "ac"
    if any(
        kind == "Battery" and around.read(f"/sys/class/power_supply/{name}/status") == "Discharging"
        for name, kind in kinds.items()
    ):
        return "battery"
    raise Missing("not_reported", "the system lists no power supply")
