"""Machines in a list: one row of text for each, four queries for all."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from stackviz.intake.report_parts.cards import PARENT, CardKind
from stackviz.intake.report_parts.facts import MACHINE_FACTS, ShownFact, headline_fact
from stackviz.intake.report_parts.present import LISTED
from stackviz.records.labs.models import Card, Finding, Lab, Machine, Snapshot
from stackviz.records.labs.queries import Visitor, absences, visible_machines
from stackviz.records.series.comparability import BestRun, best_by, is_of_whole_card
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import Series
from stackviz.records.series.queries import comparable_runs, ranked_series
from stackviz.report.measuring import BENCHMARKS
from stackviz.web.http.addresses import address_by_name
from stackviz.web.paging import Cut, Page, key_page

MOST_SERIES = 600  # of all machines on a page, of each the same number at most
FORMATS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "int8")  # in the order of a sheet's rates


def measured_on(accelerator_id: int, machines: Sequence[Machine]) -> dict[int, list[BestRun]]:
    """Machine pk -> what it measured on cards of this accelerator. Six queries; `lab` must be loaded.

    The caller must have checked that these machines may be seen.
    """
    pks = [machine.pk for machine in machines]
    series = Series.objects.filter(machine__in=pks, benchmark__in=tuple(BENCHMARKS), card_index__isnull=False)
    results = comparable_runs(ranked_series(series, MOST_SERIES, MOST_SERIES // max(len(pks), 1)))
    whole_card = [result for result in results if is_of_whole_card(result) and result.accelerator_id == accelerator_id]
    by_machine: dict[int, list[BestRun]] = defaultdict(list)
    for best in sorted(best_by(_machine_and_kind, whole_card).values(), key=lambda best: _order(best.result)):
        by_machine[best.result.machine_id].append(best)
    return by_machine


def _machine_and_kind(result: Measurement) -> tuple[int, str, str]:
    return result.machine_id, result.benchmark_key, str(result.params.get("dtype") or result.params.get("test") or "")


def _order(result: Measurement) -> tuple[int, int, str]:
    dtype = str(result.params.get("dtype", ""))
    benchmark = list(BENCHMARKS).index(result.benchmark_key)
    return benchmark, FORMATS.index(dtype) if dtype in FORMATS else len(FORMATS), dtype


MACHINES_PER_PAGE = 30
_RANKS = {severity.value: rank for rank, severity in enumerate(LISTED)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRow:
    """One machine in a list. `has_report` False: announced, nothing read yet; the facts then say so.

    `findings`: how many its page lists; `worst`: the severity of the first of them.
    """

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
    worst: str
    findings: int
    taken_at: datetime | None
    measured: Sequence[BestRun] = ()  # on the accelerator that was asked for


def machines_found(
    visitor: Visitor, *, q: str = "", accelerator: str = "", lab: Lab | None = None
) -> QuerySet[Machine]:
    """Machines this visitor may see, in no order. `q`: in the machine's or the lab's name."""
    machines = visible_machines(visitor)
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


def machines_page(machines: QuerySet[Machine], cut: Cut, per_page: int = MACHINES_PER_PAGE) -> Page[Machine]:
    """A page of machines, newest report first, those without a report last. Two queries at most."""
    return key_page(machines, "latest_taken_at", cut, per_page, lambda machine: (machine.latest_taken_at, machine.pk))


def machine_rows(machines: Iterable[Machine], accelerator_id: int | None = None) -> list[MachineRow]:
    """A row for each machine, in order. Three queries at most; `lab` must be loaded.

    `accelerator_id`: also what they measured on it, which costs six queries more.
    Reads single columns: whole snapshots of fifty machines with eight cards each are a thousand JSON texts to parse.
    """
    listed = list(machines)
    pks = [machine.latest_snapshot_id for machine in listed if machine.latest_snapshot_id is not None]
    facts = _facts(pks) if pks else {}
    cards = _cards(pks) if pks else {}
    findings = _counted_findings(pks) if pks else {}
    measured = measured_on(accelerator_id, listed) if accelerator_id is not None and listed else {}
    rows = [
        _row(machine, facts.get(pk), tuple(cards.get(pk, ())), findings.get(pk, ("", 0)))
        for machine in listed
        for pk in (machine.latest_snapshot_id,)
    ]
    return [replace(row, measured=measured.get(machine.pk, ())) for machine, row in zip(listed, rows, strict=True)]


_Facts = tuple[dict[str, Any], dict[str, Any]]


def _facts(snapshots: Sequence[int]) -> dict[int | None, _Facts]:
    """Snapshot pk -> (facts, absent)."""
    rows = Snapshot.objects.filter(pk__in=snapshots).values_list("pk", "facts", "absent")
    return {pk: (facts, absent) for pk, facts, absent in rows}


def _cards(snapshots: Sequence[int]) -> dict[int | None, list[CardKind]]:
    """Snapshot pk -> its cards by kind, in order of their index; an instance of a card is none of its own."""
    names = ("snapshot_id", "reported_name", "accelerator__slug", "accelerator__name", "accelerator__is_public")
    counts: dict[int | None, Counter[tuple[str, str]]] = defaultdict(Counter)
    for pk, reported, slug, sheet, is_public in (
        Card.objects.filter(snapshot__in=snapshots)
        .exclude(facts__has_key=PARENT)
        .order_by("snapshot_id", "index")
        .values_list(*names)
    ):
        counts[pk][(sheet, slug) if is_public else (reported, "")] += 1
    return {
        pk: [CardKind(name, count, _sheet_url(slug)) for (name, slug), count in kinds.items()]
        for pk, kinds in counts.items()
    }


def _sheet_url(slug: str) -> str:
    return address_by_name("accelerators:sheet", slug) if slug else ""


def _counted_findings(snapshots: Sequence[int]) -> dict[int | None, tuple[str, int]]:
    """Snapshot pk -> (the worst severity, how many findings its page lists)."""
    findings = Finding.objects.filter(snapshot__in=snapshots, severity__in=LISTED)
    counts = findings.order_by().values_list("snapshot_id", "severity").annotate(Count("pk"))
    counted: dict[int | None, tuple[str, int]] = {}
    for pk, severity, count in counts:
        worst, others = counted.get(pk, (severity, 0))
        counted[pk] = min(worst, severity, key=_RANKS.__getitem__), others + count
    return counted


def _row(machine: Machine, stated: _Facts | None, cards: tuple[CardKind, ...], counted: tuple[str, int]) -> MachineRow:
    worst, findings = counted
    facts, stored = stated or ({}, {})
    absent = absences({name: stored[name] for name in MACHINE_FACTS if name in stored})
    cpu, memory, system, python, torch = (headline_fact(name, facts, absent) for name in MACHINE_FACTS)
    return MachineRow(
        name=machine.name,
        url=machine.get_absolute_url(),
        lab_name=machine.lab.name,
        lab_url=machine.lab.get_absolute_url(),
        subject=machine.subject,
        is_private=not machine.lab.is_public,
        has_report=stated is not None,
        cards=cards,
        cpu=cpu,
        memory=memory,
        system=system,
        python=python,
        torch=torch,
        worst=worst,
        findings=findings,
        taken_at=machine.latest_taken_at if stated is not None else None,
    )
