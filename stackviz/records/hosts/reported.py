"""A public host as a report: what its source says, in the names of the report format. No query.

So rules judge it, and pages draw it, as they do a report of an agent. What the source does not say is in no fact; what
it says is not there is absent with the reason. The report is of the day of the description, and rules judge that day.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, time
from uuid import NAMESPACE_URL, uuid5

from stackviz.base.backports import UTC
from stackviz.records.hosts.models import Host, HostCard, HostComponent
from stackviz.report.dumps.components import components_of_facts
from stackviz.report.format import FACTS, NOBODY, Absent, Agent, Card, FactType, Machine, Report, Scalar, Software

__all__ = ["FACTS_OF_COMPONENTS", "FOUND_BY", "host_report", "system_facts"]

FOUND_BY = "public description"
"""`found_by` of the software of a host."""

FACTS_OF_COMPONENTS = {
    "python": "python.version",
    "pytorch": "torch.version",
    "cudnn": "cudnn.version",
    "nccl": "nccl.version",
    "cuda-runtime": "cuda.runtime_version",
    "cuda-toolkit": "cuda.toolkit_version",
    "rocm": "rocm.version",
    "nvidia-driver": "nvidia.driver_version",
    "nvidia-smi": "nvidia.nvml_version",
}
"""Component -> the fact that has its version: nvidia-smi states the version of NVML, which comes with it."""

_SYSTEM = re.compile(r"(?P<name>[^\d(]+?)\s*(?P<version>\d[^(]*?)?\s*(?:\((?P<more>.*)\))?")
_SYSTEM_NAMES = {"Fedora Linux": "Fedora", "Ubuntu Linux": "Ubuntu", "Ubuntu Server": "Ubuntu"}
_BUILD = re.compile(r"\d{2}[A-Z]\d{1,5}[a-z]?")  # of macOS: 25F84
_ARCHITECTURES = {"aarch64": "aarch64", "RISC-V": "riscv64", "Intel": "x86_64"}
_BOARD = re.compile(r"DGX Spark|Jetson(?: AGX)? (?:Thor|Orin(?: Nano| NX)?|Xavier(?: NX)?)")
_SYSTEMS = frozenset({"linux", "macos", "windows"})
_TRUTHS = {"yes": True, "no": False}
_KINDS = {"apple": "soc", "huawei": "npu", "google": "tpu"}


def host_report(host: Host) -> Report:
    """Return what the source says of the host. Its vendor, cards with accelerators and components must be loaded."""
    cards = tuple(_report_card(card, host) for card in host.cards.all())
    components = list(host.components.all())
    facts = {**_machine_facts(host, cards), **dict(_facts_of_components(components))}
    absent = {name: why for name, why in _absences(host, components) if name not in facts}
    report = Report(
        id=uuid5(NAMESPACE_URL, host.subject),
        created_at=datetime.combine(host.seen_on, time(), UTC),
        agent=Agent(FOUND_BY, "1"),
        machine=Machine(NOBODY),
        facts=facts,
        absent=absent,
        cards=cards,
        software=tuple(_software(components)),
    )
    return replace(report, software=(*report.software, *_software_of_facts(report)))


# --- the machine ---


def _machine_facts(host: Host, cards: Iterable[Card]) -> dict[str, Scalar]:
    stated: dict[str, Scalar | None] = {
        **system_facts(host.system),
        "os.kernel": _kernel(host.kernel),
        "os.wsl": "2" if host.virtualisation == Host.Virtualisation.WSL2 else None,
        "machine.virtualization": "vm-other" if host.virtualisation == Host.Virtualisation.VM else None,
        "machine.container": "container-other" if host.virtualisation == Host.Virtualisation.CONTAINER else None,
        "machine.model": _board(host),
        "cpu.model": host.cpu,
        "cpu.cores_physical": host.cpu_cores,
        "memory.total_bytes": host.memory_bytes,
        **_driver_facts(cards),
        **_apple_facts(host, cards),
    }
    return {name: value for name, value in stated.items() if value not in (None, "")}


def system_facts(system: str) -> dict[str, str | None]:
    """Name, version, build and architecture: `macOS 26.5.2 (25F84)`, `Ubuntu 22.04 (WSL2 on Windows)`, `Linux`."""
    match = _SYSTEM.fullmatch(system.strip())
    if match is None:
        return {}
    name, version, more = match["name"], match["version"], match["more"] or ""
    build = _BUILD.fullmatch(more)
    architecture = next((arch for mark, arch in _ARCHITECTURES.items() if mark in more), None)
    return {
        "os.name": _SYSTEM_NAMES.get(name, name),
        "os.version": version.removesuffix(" LTS") if version else None,
        "os.build": more.replace("L4T r", "L4T ") if more.startswith("L4T") else build[0] if build else None,
        "os.arch": architecture,
    }


def _kernel(kernel: str) -> str:
    """With the name of the kernel, as uname writes it; `Darwin 25.2.0` has it, and Windows has none."""
    if not kernel or kernel.startswith("Darwin"):
        return kernel
    return "" if kernel.startswith("10.0.") else f"Linux {kernel}"


def _board(host: Host) -> str | None:
    """The machine that is sold with its chip, where the description names it."""
    match = _BOARD.search(host.title)
    return match[0] if match else None


def _driver_facts(cards: Iterable[Card]) -> dict[str, Scalar | None]:
    """The driver of NVIDIA's cards is the machine's."""
    drivers = [card.facts.get("driver_version") for card in cards if card.vendor == "nvidia"]
    return {"nvidia.driver_version": next((driver for driver in drivers if driver), None)}


def _apple_facts(host: Host, cards: Iterable[Card]) -> dict[str, Scalar | None]:
    chip = next((card for card in cards if card.vendor == "apple"), None)
    if chip is None:
        return {}
    name = host.cpu if host.cpu.startswith("Apple ") else chip.reported_name
    return {"apple.chip": name, "apple.gpu_cores": chip.facts.get("gpu_cores"), "os.arch": "arm64"}


# --- cards ---


def _report_card(card: HostCard, host: Host) -> Card:
    vendor = card.accelerator.vendor.slug if card.accelerator else host.vendor.slug
    capability = card.compute_capability
    stated: dict[str, Scalar | None] = {
        "gfx_target" if capability.startswith("gfx") else "compute_capability": capability,
        "driver_version": card.driver_version,
        "power_limit_w": card.power_limit_w,
        "pcie_generation_max": card.pcie_generation,
        "pcie_width": card.pcie_lanes,
        "gpu_cores": card.gpu_cores,
        "unified_memory": True if vendor == "apple" else None,
    }
    return Card(
        index=card.index,
        kind=_KINDS.get(vendor, "gpu"),
        vendor=vendor,
        reported_name=card.reported_name,
        memory_bytes=card.memory_bytes,
        facts={name: value for name, value in stated.items() if value not in (None, "")},
    )


# --- software ---


def _facts_of_components(components: Iterable[HostComponent]) -> Iterator[tuple[str, Scalar]]:
    for component in components:
        name = FACTS_OF_COMPONENTS.get(component.name, component.name)
        if component.value and name in FACTS:
            is_truth = FACTS[name].kind == FactType.TRUTH
            yield name, _TRUTHS[component.value] if is_truth else component.value
        elif component.name == "nvidia-open-kernel-module" and component.state != HostComponent.State.ABSENT:
            yield "nvidia.driver_kind", "open"
        elif component.name == "l4t" and component.value:
            yield "os.build", f"L4T {component.value.removeprefix('r')}"


def _absences(host: Host, components: Iterable[HostComponent]) -> Iterator[tuple[str, Absent]]:
    """What the source says is not there. A fact that it does not mention is in neither map."""
    for component in components:
        name = FACTS_OF_COMPONENTS.get(component.name, component.name)
        if component.state == HostComponent.State.ABSENT and name in FACTS:
            yield name, Absent("not_installed")
    if host.virtualisation == Host.Virtualisation.BARE:
        yield "machine.virtualization", Absent("not_applicable")
        yield "machine.container", Absent("not_applicable")


def _software(components: Iterable[HostComponent]) -> Iterator[Software]:
    """Components that are there, those without a version too."""
    for component in components:
        if component.state != HostComponent.State.ABSENT and component.name not in FACTS:
            yield Software(component.name, component.value or None, FOUND_BY)


def _software_of_facts(report: Report) -> Iterator[Software]:
    """The system, the driver and the CUDA of torch, which facts state and no component."""
    for name, version in components_of_facts(report):
        if version or name in _SYSTEMS:
            yield Software(name, version, FOUND_BY)
