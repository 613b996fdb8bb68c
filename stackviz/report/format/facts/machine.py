"""The machine: vendor, model, container, hypervisor, power.

Sources on Linux: /sys/class/dmi, /sys/class/power_supply, /proc/1/cgroup.
"""

import json
import re

from stackviz.report.format.agent_texts import UNNAMED_HYPERVISOR
from stackviz.report.format.facts.asking import MissingFact, Surroundings, only_on
from stackviz.report.format.facts.table import FactTable

__all__ = ["FACTS"]

FACTS = FactTable(order=20, probe="system")

_THERMAL_PRESSURE = {0: "nominal", 1: "moderate", 2: "heavy", 3: "trapping", 4: "sleeping"}  # OSThermalNotification.h
_DOCKER_SOCKET = "/var/run/docker.sock"
_PLACEHOLDERS = {
    "to be filled by o.e.m.",
    "system product name",
    "system manufacturer",
    "default string",
    "none",
    "n/a",
}
"""What board makers leave in DMI, in lower case: it names nothing."""
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


def _dmi(around: Surroundings, name: str) -> str | None:
    text = around.read(f"/sys/class/dmi/id/{name}")
    return None if text is None or text.lower() in _PLACEHOLDERS else text


@FACTS.text("machine.model", "the vendor's model identifier: Mac15,9")
def machine_model(around: Surroundings) -> str | None:
    only_on(around, "Linux")  # Macs: the apple probe
    return around.read("/proc/device-tree/model") or _dmi(around, "product_name")


@FACTS.text("machine.vendor", "the vendor of the machine")
def machine_vendor(around: Surroundings) -> str | None:
    only_on(around, "Linux")
    return _dmi(around, "sys_vendor")


@FACTS.text(
    "machine.docker_runtimes", "runtimes that Docker's daemon knows, space separated: io.containerd.runc.v2 nvidia"
)
def machine_docker_runtimes(around: Surroundings) -> str | None:
    """Of the daemon on this machine only: the command's own settings may name another one's."""
    only_on(around, "Linux")
    if not around.path(_DOCKER_SOCKET).exists():
        raise MissingFact("not_applicable", "no daemon of Docker runs here")
    text = around.run("docker", "--host", f"unix://{_DOCKER_SOCKET}", "info", "--format", "{{json .Runtimes}}")
    try:
        runtimes = json.loads(text)
    except ValueError:
        raise MissingFact("failed", "docker info prints no JSON") from None
    return " ".join(sorted(map(str, runtimes))) if isinstance(runtimes, dict) else None


@FACTS.text("machine.container", "kind of container this runs in: docker, podman, lxc, kubernetes; absent outside")
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
    raise MissingFact("not_applicable", "no sign of a container")


FACTS.text(
    "machine.recognised_by",
    "what machine.identity is a hash of: explicit (--machine-id), system, host (a container that sees its host's id), "
    "board, cards, file, boot; only cards, file and boot may change with the machine as it is",
)
FACTS.text("machine.identity_by_cards", "what machine.identity would be of the cards alone: SHA-256 over their UUIDs")


@FACTS.text("machine.virtualization", "kind of virtual machine this runs in: kvm, hyperv; absent on bare metal")
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
        return UNNAMED_HYPERVISOR
    raise MissingFact("not_applicable", "no sign of a hypervisor")


@FACTS.text("machine.power_source", "ac or battery")
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
    raise MissingFact("not_reported", "the system lists no power supply")


@FACTS.truth("machine.low_power_mode", "a power-saving mode of the system is on", probe="apple")
def machine_low_power_mode(around: Surroundings) -> bool | None:
    match = re.search(r"^\s*(?:lowpowermode|powermode)\s+(\d)", around.run("pmset", "-g"), re.MULTILINE)
    return match[1] == "1" if match else None


@FACTS.truth("machine.high_power_mode", "a mode of the system for more power and louder fans is on", probe="apple")
def machine_high_power_mode(around: Surroundings) -> bool:
    match = re.search(r"^\s*(?:highpowermode\s+(\d)|powermode\s+(\d))", around.run("pmset", "-g"), re.MULTILINE)
    if match is None:
        raise MissingFact("not_applicable", "this Mac has no such mode")
    return match[1] == "1" or match[2] == "2"


@FACTS.text(
    "machine.thermal_pressure",
    "how much heat holds a Mac back, in the words of macOS: nominal, moderate, heavy, trapping, sleeping",
    probe="apple",
)
def machine_thermal_pressure(around: Surroundings) -> str | None:
    text = around.run("notifyutil", "-g", "com.apple.system.thermalpressurelevel")
    match = re.search(r"thermalpressurelevel\s+(\d)\s*$", text)
    return _THERMAL_PRESSURE.get(int(match[1])) if match else None
