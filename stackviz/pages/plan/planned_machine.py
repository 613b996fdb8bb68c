"""What is planned, and the report its machine would send. No queries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import uuid4

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.report import format as wire
from stackviz.report.format import Scalar
from stackviz.report.rules import Requirement, Tables
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.known_cards import KnownCard, normalized


@dataclass(frozen=True, slots=True)
class System:
    """A system one may plan for. `platform`: as drivers go; `wheel`: as wheels go; `facts`: what it would report.

    `vendors`: whose cards the tables of torch's builds know on it.
    """

    key: str
    platform: str
    wheel: str
    facts: Mapping[str, Scalar]
    vendors: frozenset[str]


def _system(key: str, platform: str, wheel: str, vendors: str, **facts: Scalar) -> System:
    named = {name.replace("_", ".", 1): value for name, value in facts.items()}
    return System(key, platform, wheel, MappingProxyType(named), frozenset(vendors.split()))


JETPACK = "jetpack"  # the Linux of NVIDIA's Jetson boards: no table of torch's builds speaks of it
INTEL_MAC = "macos-x86_64"
_NATIVE_MAC: dict[str, Scalar] = {"os_name": "macOS", "python_rosetta": False}
SYSTEMS = {
    system.key: system
    for system in (
        _system("linux-x86_64", "linux", "linux-x86_64", "nvidia", os_name="Linux", python_arch="x86_64"),
        _system("linux-aarch64", "linux", "linux-aarch64", "nvidia", os_name="Linux", python_arch="aarch64"),
        _system("windows-x86_64", "windows", "windows-x86_64", "nvidia", os_name="Windows", python_arch="AMD64"),
        _system("wsl2", "windows", "linux-x86_64", "nvidia", os_name="Linux", os_wsl="2", python_arch="x86_64"),
        _system("macos-arm64", "macos", "macos-arm64", "apple", **_NATIVE_MAC, python_arch="arm64", mps_built=True),
        _system(INTEL_MAC, "macos", INTEL_MAC, "", **_NATIVE_MAC, python_arch="x86_64"),
        _system(JETPACK, "linux", "linux-aarch64", "", os_name="Linux", python_arch="aarch64"),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMachine:
    """What is planned. `card` None: the CPU alone. `macos`, `driver`, `python`: "" for not decided.

    `python_is_open`: nobody chose the Python; what is installed follows it, and no report states it.
    """

    system: System
    torch: str
    card: KnownCard | None
    macos: str = ""
    driver: str = ""
    python: str = ""
    python_is_open: bool = False

    @property
    def has_nvidia_card(self) -> bool:
        return self.card is not None and self.card.vendor == "nvidia"

    @property
    def capability(self) -> str:
        """The compute capability of the card; "" without one."""
        return self.card.compute_capability if self.card else ""


def bare_report(machine: PlannedMachine, day: datetime) -> wire.Report:
    """The machine without torch and driver."""
    facts: dict[str, Scalar] = dict(machine.system.facts)
    if machine.python and not machine.python_is_open:
        facts["python.version"] = machine.python
    if machine.system.platform == "macos":
        facts["os.version"] = machine.macos
        facts["os.arch"] = facts["python.arch"]
        if machine.card is not None:
            facts["apple.chip"] = machine.card.reported_name
    return wire.Report(
        id=uuid4(),
        created_at=day,
        agent=wire.Agent("plan", "0"),
        machine=wire.Machine(wire.NOBODY),
        facts={name: value for name, value in facts.items() if value != ""},
        cards=tuple(_cards(machine)),
    )


def _cards(machine: PlannedMachine) -> Iterator[wire.Card]:
    card = machine.card
    if card is not None:
        facts = {"compute_capability": card.compute_capability} if card.compute_capability else {}
        memory = card.memory_bytes if card.vendor != "apple" else None
        kind = "soc" if card.vendor == "apple" else "gpu"
        yield wire.Card(
            index=0, kind=kind, vendor=card.vendor, reported_name=card.reported_name, memory_bytes=memory, facts=facts
        )


# What a generation of cards has and lacks, in its vendor's words.


TITLES: dict[str, Promise] = {
    "async-copy": _("asynchronous copies into shared memory"),
    "bf16-arithmetic": _("bfloat16 arithmetic"),
    "mig": _("Multi-Instance GPU (MIG)"),
    "tensor-core-bf16": _("tensor cores for bfloat16"),
    "tensor-core-fp16": _("tensor cores for FP16"),
    "tensor-core-fp4": _("tensor cores for FP4"),
    "tensor-core-fp6": _("tensor cores for FP6"),
    "tensor-core-fp64": _("tensor cores for FP64"),
    "tensor-core-fp8": _("tensor cores for FP8"),
    "tensor-core-int4": _("tensor cores for INT4"),
    "tensor-core-int8": _("tensor cores for INT8"),
    "tensor-core-tf32": _("tensor cores for TF32"),
    "tensor-memory-accelerator": _("Tensor Memory Accelerator (TMA)"),
    "thread-block-cluster": _("thread block clusters"),
}


def feature_title(subject: str) -> str:
    """`tensor-core-bf16` -> tensor cores for bfloat16; one without a title keeps its name."""
    return str(TITLES.get(subject, subject.replace("-", " ")))


def features(machine: PlannedMachine, tables: Tables) -> list[Requirement]:
    """What the card's generation has and lacks (`values` "yes", "no"), by name; empty for a card without a capability.

    MIG is a feature of some cards of a generation: of those that NVIDIA lists.
    """
    card = machine.card
    if card is None or not card.compute_capability:
        return []
    has_mig = any(_is_named(row.version, card) for row in tables.rows("mig", "needs", "nvidia-driver"))
    rows = _features_of(tables, card.compute_capability)
    return [row for row in rows if row.subject != "mig" or row.values == "no" or has_mig]


@computed_once
def _features_of(tables: Tables, capability: str) -> tuple[Requirement, ...]:
    rows = (row for row in tables.requirements if row.component == "compute-capability" and row.relation == "offers")
    rows_of_card = (row for row in rows if row.version == capability and row.values in ("yes", "no"))
    return tuple(sorted(rows_of_card, key=lambda row: (row.subject, row.key)))


def _is_named(listed: str, card: KnownCard) -> bool:
    """Whether a vendor's list of products names this one: `B200/GB200`, `GB300 (DGX Station)`."""
    words = set(normalized(card.reported_name).split()) | set(card.accelerator.split("-"))
    return any(set(normalized(name).split()) <= words for name in listed.partition("(")[0].split("/"))
