"""Machines in a list: one row of text for each, four queries for all."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from stackviz.catalog.models import Accelerator
from stackviz.labs.models import Card, Finding, Lab, Machine, Snapshot
from stackviz.labs.queries import Visitor, latest_snapshots, visible_machines
from stackviz.machines.facts import ShownFact, one_fact

MACHINES_PER_PAGE = 50
# What a row says of a machine besides its cards, in column order.
ROW_FACTS = ("cpu.model", "memory.total_bytes", "os.name", "python.version", "torch.version")
_ALARMS = (Finding.Severity.BROKEN, Finding.Severity.WARNING)


@dataclass(frozen=True, slots=True)
class CardKind:
    """Cards of one name in one machine. `url` is empty where the name is in no public sheet."""

    name: str
    count: int
    url: str

    @property
    def label(self) -> str:
        return f"{self.count} × {self.name}" if self.count > 1 else self.name


@dataclass(frozen=True, slots=True)
class MachineRow:
    """One machine in a list. `has_report` False: announced, nothing read yet; the facts then say so."""

    name: str
    url: str
    lab_name: str
    lab_url: str
    subject: str
    is_private: bool
    has_report: bool
    cards: tuple[CardKind, ...]
    cpu: ShownFact
    memory: ShownFact
    system: ShownFact
    python: ShownFact
    torch: ShownFact
    alarm: str
    alarms: int
    taken_at: datetime | None


def machines_found(
    visitor: Visitor, *, q: str = "", accelerator: str = "", lab: Lab | None = None
) -> QuerySet[Machine]:
    """Machines this visitor may see, newest report first. `q`: in the machine's or the lab's name."""
    machines = visible_machines(visitor).order_by(F("latest_taken_at").desc(nulls_last=True), "pk")
    if lab is not None:
        machines = machines.filter(lab=lab)
    if q:
        machines = machines.filter(Q(name__icontains=q) | Q(slug__icontains=q) | Q(lab__name__icontains=q))
    if accelerator:
        has_one = Card.objects.filter(
            snapshot=OuterRef("latest_snapshot"), accelerator__slug=accelerator, accelerator__is_public=True
        )
        machines = machines.filter(Exists(has_one))
    return machines


def machine_rows(machines: Iterable[Machine]) -> list[MachineRow]:
    """A row for each machine, in order. Three queries at most; `lab` must be loaded."""
    listed = list(machines)
    snapshots = latest_snapshots(listed)
    return [_row(machine, snapshots.get(machine.pk)) for machine in listed]


def _row(machine: Machine, snapshot: Snapshot | None) -> MachineRow:
    facts, absent = (snapshot.facts, snapshot.absent) if snapshot else ({}, {})
    cpu, memory, system, python, torch = (one_fact(name, facts, absent) for name in ROW_FACTS)
    alarm, alarms = worst_alarm(snapshot.findings.all() if snapshot else ())
    return MachineRow(
        name=machine.name,
        url=machine.get_absolute_url(),
        lab_name=machine.lab.name,
        lab_url=machine.lab.get_absolute_url(),
        subject=subject_of(machine),
        is_private=not machine.lab.is_public,
        has_report=snapshot is not None,
        cards=card_kinds(snapshot.cards.all()) if snapshot else (),
        cpu=cpu,
        memory=memory,
        system=with_version(system, facts.get("os.version")),
        python=python,
        torch=torch,
        alarm=alarm,
        alarms=alarms,
        taken_at=machine.latest_taken_at if snapshot else None,
    )


def subject_of(machine: Machine) -> str:
    """The machine as a subject of a comparison."""
    return f"machine:{machine.lab.slug}/{machine.slug}"


def with_version(fact: ShownFact, version: object) -> ShownFact:
    """`Ubuntu` and `24.04` as one."""
    return ShownFact(fact.name, f"{fact.text} {version}") if fact.text and version else fact


def card_kinds(cards: Iterable[Card]) -> tuple[CardKind, ...]:
    """Cards gathered by the name they reported, in order of their index; the sheet's name where it is known."""
    counts: Counter[Accelerator | str] = Counter()
    for card in cards:
        sheet = card.accelerator
        counts[sheet if sheet is not None and sheet.is_public else card.reported_name] += 1
    return tuple(
        CardKind(kind, count, "") if isinstance(kind, str) else CardKind(kind.name, count, kind.get_absolute_url())
        for kind, count in counts.items()
    )


def worst_alarm(findings: Iterable[Finding] | Sequence[Finding]) -> tuple[str, int]:
    """(the worst severity that asks for action, how many of it); ("", 0) where nothing does."""
    counts = Counter(finding.severity for finding in findings)
    for severity in _ALARMS:
        if counts[severity]:
            return str(severity), counts[severity]
    return "", 0
