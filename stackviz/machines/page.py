"""All that a machine's page shows, put together from the rooms below with a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.safestring import SafeString

from stackviz.benchmarks.queries import latest_results
from stackviz.catalog.models import CatalogueEdition
from stackviz.diagrams.columns import drop_unreported_rows
from stackviz.diagrams.stack import StackDrawing, draw_columns
from stackviz.labs.models import Machine, Report, Snapshot
from stackviz.labs.queries import MachineLookup, Visitor, latest_snapshots
from stackviz.machines.results import ResultGroup, result_figures, result_groups
from stackviz.reports.cards import CardKind, card_kinds
from stackviz.reports.facts import MACHINE_FACTS, Facts
from stackviz.reports.present import (
    JudgedReport,
    PresentedReport,
    component_names,
    described_stacks,
    present,
    stack_column,
    stored_report,
)
from stackviz.rules import Finding
from stackviz.stacks.models import Edition
from stackviz.stacks.reported import stack_slug
from stackviz.web.key_paging import Cut, key_page
from stackviz.web.paging import Page, page_as
from stackviz.web.parts import cached_html, render_part
from stackviz.web.reverse import address_by_id

REPORTS_PER_PAGE = 20
FIRST_REPORTS = Cut()
# A report is read within seconds; one that waits longer than this is no longer watched for.
WATCHED_FOR = timedelta(minutes=15)
# What the page says of the newest report that was read -> where it stands, from the snapshot.
LATEST = {"latest_report_id": "report_id", "latest_read_at": "report__read_at", "latest_agent": "agent"}
ON_NVIDIA = ("nvidia.driver_version", "cuda.runtime_version")
ON_APPLE = ("memory.gpu_limit_bytes", "mps.available")


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


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A probe that did not end well."""

    name: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBody:
    """All that the latest report says: plain values, so that its drawing can be kept (`drawn_body`).

    `not_drawn`: names of what its stack may hold and it did not report.
    """

    lab: str
    slug: str
    report: PresentedReport
    card_kinds: tuple[CardKind, ...]
    findings: tuple[Finding, ...]
    drawing: StackDrawing
    not_drawn: tuple[str, ...]
    groups: tuple[ResultGroup, ...]
    left_out: int
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


def machine_page(visitor: Visitor, lab: str, slug: str, cut: Cut = FIRST_REPORTS) -> MachinePage:
    """Two queries, one more beyond the first page of reports. Raises Machine.DoesNotExist, also for one not to be seen.

    The body is separate (`report_body`), because it is expensive and can be cached.
    """
    machine = _machine_with_latest(visitor, lab, slug)
    if machine is None:
        raise Machine.DoesNotExist
    latest = {name: getattr(machine, f"latest_{name}") for name in ("report_id", "taken_at", "read_at", "agent")}
    reports = _reports(machine, cut)
    newest = reports if cut == FIRST_REPORTS else _reports(machine)
    return MachinePage(
        machine=machine,
        subject=machine.subject,
        latest=Latest(**latest) if latest["report_id"] else None,
        reports=reports,
        is_arriving=any(_is_arriving(report) for report in newest.items),
        seen=_token(machine, newest.items[0] if newest.items else None),
        since=int(timezone.now().timestamp()),
    )


def _with_latest(machines: QuerySet[Machine]) -> QuerySet[Machine]:
    return machines.annotate(**{name: F(f"latest_snapshot__{path}") for name, path in LATEST.items()})


_machine_with_latest = MachineLookup(_with_latest)


def report_body(machine: Machine) -> ReportBody | None:
    """All of the machine's latest report; None before one was read. At most ten queries, whatever is stored."""
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return None
    return _body(machine, snapshot)


def machine_figures(machine: Machine) -> dict[str, Any]:
    """The charts of its newest results, by the `key` of their groups, as Plotly reads them. At most eight queries."""
    snapshots = latest_snapshots([machine])
    return result_figures(latest_results([machine], snapshots.values())[machine.pk])


def _body(machine: Machine, snapshot: Snapshot) -> ReportBody:
    judged = stored_report(snapshot)
    report = _presented(machine, judged)
    results = latest_results([machine], [snapshot])[machine.pk]
    columns, not_drawn = drop_unreported_rows([report.column])
    findings = report.findings
    return ReportBody(
        lab=machine.lab.slug,
        slug=machine.slug,
        report=report,
        card_kinds=card_kinds(judged.cards),
        findings=(*findings.faults, *findings.open_questions, *findings.notes),
        drawing=draw_columns(columns),
        not_drawn=not_drawn,
        groups=tuple(result_groups(results)),
        left_out=results.left_out,
        probes=tuple(_probe(probe) for probe in snapshot.probes if probe.get("state") != "ok"),
    )


def _presented(machine: Machine, judged: JudgedReport) -> PresentedReport:
    facts = judged.report.facts
    [described] = described_stacks([stack_slug(facts, (card.vendor for card in judged.report.cards))])
    url = machine.get_absolute_url()
    column = stack_column(judged, described, key=machine.subject, title=machine.name, url=url)
    return present(judged, column, names=component_names([judged.report]), first=_headline(facts))


def _headline(facts: Facts) -> list[str]:
    """The facts people ask for first, those of the machine's own platform included."""
    nvidia = ON_NVIDIA if "nvidia.driver_version" in facts else ()
    return [*MACHINE_FACTS, *nvidia, *(ON_APPLE if "apple.chip" in facts else ())]


def _probe(probe: Mapping[str, Any]) -> ProbeRow:
    return ProbeRow(str(probe.get("probe", "")), str(probe.get("state", "")), str(probe.get("detail") or ""))


# --- what is asked again while the page is open ---


def seen_token(machine: Machine) -> str:
    """Names the state a page shows: it changes when a report arrives, is read, or fails. One query."""
    newest = _reports(machine)
    return _token(machine, newest.items[0] if newest.items else None)


def _token(machine: Machine, newest: ReportRow | None) -> str:
    report = f"{newest.id}.{newest.status}" if newest else "."
    return f"{report}.{machine.latest_snapshot_id or ''}"


def _is_arriving(report: ReportRow) -> bool:
    """Whether it came in a moment ago and is not read yet."""
    return report.status == Report.Status.RECEIVED and timezone.now() - report.received_at < WATCHED_FOR


# --- parts ---


def _reports(machine: Machine, cut: Cut = FIRST_REPORTS) -> Page[ReportRow]:
    """The machine's uploads, newest first. One query; what was sent stays in the database."""
    rows = machine.reports.values_list("pk", "received_at", "status", "warnings", "error")
    page = key_page(rows, "received_at", cut, REPORTS_PER_PAGE, lambda row: (row[1], row[0]))
    return page_as(page, _report)


def _report(row: tuple[UUID, datetime, str, Sequence[Any], str]) -> ReportRow:
    report_id, received_at, status, warnings, error = row
    return ReportRow(
        id=report_id,
        url=address_by_id("ingest:receipt", report_id),
        received_at=received_at,
        status=status,
        status_label=str(Report.Status(status).label),
        warnings=len(warnings),
        error=error,
    )


# --- the body as HTML, cached until something on it changes: rendering it costs more than everything else ---

# A key says nothing of older reports that are read again by a newer interpreter: what that changes may show this late.
CACHE_S = 60


def drawn_body(page: MachinePage) -> SafeString:
    """The body as HTML; "" before a report was read. Two queries while nothing moved.

    It shows the machine's reports, the catalogue (names of sheets, published peaks) and the described stacks; the key
    names the state of each.
    """
    if page.latest is None:
        return SafeString("")
    state = ("machine", page.machine.pk, page.seen, page.latest, CatalogueEdition.current(), Edition.current())
    return cached_html(state, lambda: render_part("machines/_body.jinja", body=report_body(page.machine)), CACHE_S)
