"""All that a machine's page shows, put together from the rooms below with a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from stackviz.benchmarks.queries import latest_results
from stackviz.diagrams.boxes import Column
from stackviz.diagrams.reported_rows import drop_unreported_rows
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.labs.as_report import absences, as_report
from stackviz.labs.models import Finding, Machine, Report, Snapshot
from stackviz.labs.queries import MachineDetail, Visitor, latest_snapshots, visible_machines
from stackviz.machines.cards import CardFact, CardRow, card_facts, card_rows
from stackviz.machines.results import ResultGroup, result_groups
from stackviz.machines.rows import CardKind, card_kinds, with_version
from stackviz.reports.facts import Absences, Facts, ShownFact, fact_text, missing_facts, one_fact, shown_facts
from stackviz.stacks.models import Component
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column, stack_slug
from stackviz.web.paging import Page, page_as, page_of

REPORTS_PER_PAGE = 20
# A report is read within seconds; one that waits longer than this is no longer watched for.
WATCHED_FOR = timedelta(minutes=15)
# What the page says of the newest report that was read -> where it stands, from the snapshot.
LATEST = {"latest_report_id": "report_id", "latest_read_at": "report__read_at", "latest_agent": "agent"}
SEVERITIES = ("broken", "warning", "cannot-tell", "note")  # as findings are read: most pressing first


@dataclass(frozen=True, slots=True)
class HeadFact:
    """One of the facts at the top: its title, the fact, and a line under it, or ""."""

    title: str
    fact: ShownFact
    more: str = ""


@dataclass(frozen=True, slots=True)
class SoftwareRow:
    """One component found. `url` leads to its description, empty where there is none."""

    name: str
    version: str
    found_by: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """One upload in the history."""

    id: UUID
    url: str
    received_at: datetime
    status: str
    status_label: str
    warnings: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """What a rule says, with its evidence: fact -> value."""

    rule: str
    severity: str
    title: str
    explanation: str
    advice: str
    evidence: Mapping[str, str]
    source_title: str
    source_url: str


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A probe that did not end well."""

    name: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBody:
    """All that the latest report says: plain values, so that its drawing can be kept (`machines.cached_body`).

    `not_drawn`: names of what its stack may hold and it did not report.
    """

    lab: str
    slug: str
    headline: tuple[HeadFact, ...]
    card_kinds: tuple[CardKind, ...]
    findings: tuple[FindingRow, ...]
    drawing: Drawing
    not_drawn: tuple[str, ...]
    cards: tuple[CardRow, ...]
    card_facts: tuple[CardFact, ...]
    groups: tuple[ResultGroup, ...]
    left_out: int
    software: tuple[SoftwareRow, ...]
    facts: tuple[ShownFact, ...]
    missing: tuple[ShownFact, ...]
    probes: tuple[ProbeRow, ...]


@dataclass(frozen=True, slots=True)
class Latest:
    """Of the newest report that was read: where its receipt is, when the machine made it, with what."""

    report_id: UUID
    taken_at: datetime
    read_at: datetime | None
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MachinePage:
    """What the page shows around its body. `latest` None: no report has been read yet.

    `seen` names the state that is shown, see `seen_token`. `since`: when this was drawn, seconds since 1970.
    """

    machine: Machine
    subject: str
    latest: Latest | None
    reports: Page[ReportRow]
    is_arriving: bool
    seen: str
    since: int


def machine_page(visitor: Visitor, lab: str, slug: str, reports_page: int = 1) -> MachinePage:
    """Two queries, one more beyond the first page of reports. Raises Machine.DoesNotExist, also for one not to be seen.

    The body is apart (`report_body`), because it is dear and can be kept.
    """
    read = {name: F(f"latest_snapshot__{path}") for name, path in LATEST.items()}
    machine = visible_machines(visitor).annotate(**read).get(lab__slug=lab, slug=slug)
    found = {name: getattr(machine, f"latest_{name}") for name in ("report_id", "taken_at", "read_at", "agent")}
    reports = _reports(machine, reports_page)
    newest = reports if reports_page == 1 else _reports(machine, 1)
    return MachinePage(
        machine=machine,
        subject=machine.subject,
        latest=Latest(**found) if found["report_id"] else None,
        reports=reports,
        is_arriving=any(_is_arriving(report) for report in newest.items),
        seen=_token(machine, newest.items[0] if newest.items else None),
        since=int(timezone.now().timestamp()),
    )


def report_body(machine: Machine) -> ReportBody | None:
    """All of the machine's latest report; None before one was read. At most ten queries, whatever is stored."""
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return None
    detail = MachineDetail(machine, snapshot, tuple(snapshot.cards.all()), tuple(snapshot.findings.all()))
    return _body(detail, snapshot)


def _body(detail: MachineDetail, snapshot: Snapshot) -> ReportBody:
    results = latest_results([detail.machine])[detail.machine.pk]
    absent = absences(snapshot.absent)
    columns, not_drawn = drop_unreported_rows([_column(detail, snapshot)])
    return ReportBody(
        lab=detail.machine.lab.slug,
        slug=detail.machine.slug,
        headline=tuple(_headline(snapshot.facts, absent)),
        card_kinds=card_kinds(detail.cards),
        findings=tuple(sorted(map(_finding, detail.findings), key=lambda one: SEVERITIES.index(one.severity))),
        drawing=draw_columns(columns),
        not_drawn=not_drawn,
        cards=tuple(card_rows(detail.cards)),
        card_facts=tuple(card_facts(detail.cards)),
        groups=tuple(result_groups(results)),
        left_out=results.left_out,
        software=tuple(_software(snapshot.software)),
        facts=tuple(shown_facts(snapshot.facts)),
        missing=tuple(missing_facts(absent)),
        probes=tuple(_probe(probe) for probe in snapshot.probes if probe.get("state") != "ok"),
    )


def _finding(finding: Finding) -> FindingRow:
    return FindingRow(
        rule=finding.rule,
        severity=finding.severity,
        title=finding.title,
        explanation=finding.explanation,
        advice=finding.advice,
        evidence={str(name): str(value) for name, value in finding.evidence.items()},
        source_title=finding.source_title,
        source_url=finding.source_url,
    )


def _probe(probe: Mapping[str, Any]) -> ProbeRow:
    return ProbeRow(str(probe.get("probe", "")), str(probe.get("state", "")), str(probe.get("detail") or ""))


# --- what is asked again while the page is open ---


def seen_token(machine: Machine) -> str:
    """Names the state a page shows: it changes when a report arrives, is read, or fails. One query."""
    newest = _reports(machine, 1)
    return _token(machine, newest.items[0] if newest.items else None)


def _token(machine: Machine, newest: ReportRow | None) -> str:
    report = f"{newest.id}.{newest.status}" if newest else "."
    return f"{report}.{machine.latest_snapshot_id or ''}"


def _is_arriving(report: ReportRow) -> bool:
    """Whether it came in a moment ago and is not read yet."""
    return report.status == Report.Status.RECEIVED and timezone.now() - report.received_at < WATCHED_FOR


# --- parts ---


def _headline(facts: Facts, absent: Absences) -> list[HeadFact]:
    """The facts people ask for first, those of the machine's own platform included."""

    def shown(title: str, name: str, more: str = "") -> HeadFact:
        return HeadFact(title, one_fact(name, facts, absent), more)

    system = with_version(one_fact("os.name", facts, absent), facts.get("os.version"))
    head = [
        shown(_("CPU"), "cpu.model", _cores(facts)),
        shown(pgettext("of a machine", "Memory"), "memory.total_bytes"),
        HeadFact(_("System"), system, fact_text("os.kernel", facts.get("os.kernel"))),
        shown(_("Python"), "python.version", fact_text("python.implementation", facts.get("python.implementation"))),
        shown(_("PyTorch"), "torch.version"),
    ]
    if "nvidia.driver_version" in facts:
        served = facts.get("cuda.driver_api_version")
        more = _("serves CUDA up to %(version)s") % {"version": served} if served else ""
        head.append(shown(_("NVIDIA driver"), "nvidia.driver_version", more))
        head.append(shown(_("CUDA runtime"), "cuda.runtime_version"))
    if "apple.chip" in facts:
        head.append(shown(_("Memory the GPU may use"), "memory.gpu_limit_bytes"))
        head.append(HeadFact(_("mps device"), _mps(facts, absent)))
    return head


def _cores(facts: Facts) -> str:
    physical, logical = facts.get("cpu.cores_physical"), facts.get("cpu.cores_logical")
    cores = _("%(n)s cores") % {"n": physical} if physical else ""
    threads = _("%(n)s threads") % {"n": logical} if logical and logical != physical else ""
    return ", ".join(filter(None, (cores, threads)))


def _mps(facts: Facts, absent: Absences) -> ShownFact:
    """Built in and usable are two things: macOS updates have broken the second."""
    built, available = facts.get("mps.built"), facts.get("mps.available")
    if built is None or available is None:
        return one_fact("mps.available", facts, absent)
    if available:
        return ShownFact("mps.available", _("usable"))
    return ShownFact("mps.available", _("built in, not usable") if built else _("not built in"))


def _column(detail: MachineDetail, snapshot: Snapshot) -> Column:
    machine, cards = detail.machine, detail.cards
    slug = stack_slug(snapshot.facts, (card.vendor for card in cards))
    described = described_columns([slug]).get(slug) or Column(key=slug, title="", subtitle="", url="", boxes=())
    report = as_report(snapshot, cards, snapshot.taken_at)
    named = (machine.subject, machine.name, described.title, machine.get_absolute_url())
    return reported_column(*named, described, report, [card.public_sheet for card in cards], detail.answers)


def _software(software: Sequence[Mapping[str, Any]]) -> list[SoftwareRow]:
    """What was found, in the order it was found, described components linked. One query."""
    slugs = [str(item.get("component", "")) for item in software]
    described = dict(Component.objects.filter(slug__in=slugs).values_list("slug", "name"))
    return [
        SoftwareRow(
            name=described.get(slug, slug),
            version=str(item.get("version") or ""),
            found_by=str(item.get("found_by") or ""),
            url=reverse("stacks:component", args=[slug]) if slug in described else "",
        )
        for slug, item in zip(slugs, software, strict=True)
    ]


def _reports(machine: Machine, number: int) -> Page[ReportRow]:
    """The machine's uploads, newest first. One query; what was sent stays in the database."""
    rows = machine.reports.order_by("-received_at").values_list("pk", "received_at", "status", "warnings", "error")
    return page_as(page_of(rows, number, REPORTS_PER_PAGE), _report)


def _report(row: tuple[UUID, datetime, str, Sequence[Any], str]) -> ReportRow:
    report_id, received_at, status, warnings, error = row
    return ReportRow(
        id=report_id,
        url=reverse("ingest:receipt", args=[report_id]),
        received_at=received_at,
        status=status,
        status_label=str(Report.Status(status).label),
        warnings=len(warnings),
        error=error,
    )
