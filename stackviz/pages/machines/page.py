"""All that a machine's page shows, put together from the rooms below with a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stackviz.base.stats.changes import MIN_RESULTS
from stackviz.draw.charts.sparkline import Sparkline, sparkline
from stackviz.draw.diagrams.columns import drop_unreported_rows
from stackviz.draw.diagrams.stack import StackDrawing, draw_columns
from stackviz.intake.report_parts.cards import CardKind, card_kinds
from stackviz.intake.report_parts.facts import MACHINE_FACTS, Facts
from stackviz.intake.report_parts.present import (
    JudgedReport,
    PresentedReport,
    component_names,
    described_stacks,
    present,
    stack_column,
    stored_report,
)
from stackviz.pages.machines.history import differences_text, draw_history, signed_percent
from stackviz.pages.machines.report_rows import FIRST_REPORTS, REPORTS_PER_PAGE, ReportRow, report_rows
from stackviz.pages.machines.results import NO_TORCH, ResultGroup, result_groups
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.labs.heartbeats import SignOfLife, sign_of_life
from stackviz.records.labs.models import AgentHeartbeat, Machine, Report, Snapshot
from stackviz.records.labs.queries import Visitor, latest_snapshots, machines_at
from stackviz.records.series.history import Trend, headline_result, trend_of
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.queries import latest_results
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.reported import stack_slug
from stackviz.report.rules import Finding
from stackviz.web.paging import Cut, Page
from stackviz.web.parts import cached_html, render_part


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlineRow:
    """`bf16 8192³` `531 TFLOP/s` `−25 %` `against 2026-11-15` `Power limit 700 W → 500 W`.

    `share`: of the published peak, "" without one. `moved`: "" where it did not. `note`: how far the figures reach.
    """

    what: str
    url: str
    rate: str
    share: str
    moved: str
    is_slower: bool
    against: str
    why: str
    note: str
    line: Sparkline | None


def headline_row(results: Sequence[Measurement]) -> HeadlineRow | None:
    """None where no result counts. Four queries."""
    result = headline_result(results)
    if result is None or result.rate is None:
        return None
    trend = trend_of(result)
    moved = signed_percent(trend.factor) if trend.factor is not None and not trend.is_steady else ""
    drawn = draw_history(trend.history, result.benchmark, result.params) if result.benchmark else None
    names_it = result.benchmark is not None and result.benchmark.setting_names_it
    return HeadlineRow(
        what=result.setting if names_it else f"{result.title} {result.setting}",
        url=f"series/{result.series_id}/",
        rate=result.rate.label,
        share=result.peak.label if result.peak and not result.peak.is_above_peak else "",
        moved=moved,
        is_slower=bool(moved) and trend.factor is not None and trend.factor < 1,
        against=_against(trend, moved=moved),
        why=_why(trend) if moved else "",
        note=_note(trend),
        line=sparkline(drawn.points, drawn.levels, drawn.marks) if drawn else None,
    )


def _against(trend: Trend, *, moved: str) -> str:
    if trend.before is None:
        return _("measured once so far")
    day = {"day": f"{trend.before.measured_at:%Y-%m-%d}"}
    return _("against %(day)s") % day if moved else _("as on %(day)s") % day


def _why(trend: Trend) -> str:
    return differences_text(trend.causes) or _("nothing we read changed")


def _note(trend: Trend) -> str:
    """Single results may differ by chance: a change of level needs more of them."""
    if trend.is_level or trend.before is None or trend.counted >= MIN_RESULTS:
        return ""
    return _("%(n)d results so far; %(least)d are needed to tell changes from noise") % {
        "n": trend.counted,
        "least": MIN_RESULTS,
    }


# A report is read within seconds; one that waits longer than this is no longer watched for.
WATCHED_FOR = timedelta(minutes=15)
# What the page says of the newest report that was read -> where it stands, from the snapshot.
LATEST = {"latest_report_id": "report_id", "latest_read_at": "report__read_at", "latest_agent": "agent"}
BEAT = {"beat_at": "heartbeat__heard_at", "beat_every_s": "heartbeat__every_s", "beat_busy": "heartbeat__busy"}
ON_NVIDIA = ("nvidia.driver_version", "cuda.runtime_version")
ON_APPLE = ("memory.gpu_limit_bytes", "mps.available")


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A probe that did not end well."""

    name: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBody:
    """All that the latest report says: plain values, so that its drawing can be kept (`drawn_body`).

    `not_drawn`: names of what its stack may hold and it did not report. `lacks_torch`: nothing could be measured.
    """

    lab: str
    slug: str
    report: PresentedReport
    card_kinds: tuple[CardKind, ...]
    findings: tuple[Finding, ...]
    drawing: StackDrawing
    not_drawn: tuple[str, ...]
    headline: HeadlineRow | None
    groups: tuple[ResultGroup, ...]
    left_out: int
    lacks_torch: bool
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

    `seen` names the state that is shown, see `seen_token`. `since`: when this was drawn, seconds since 1970. `sign`: of
    the agent that stays there; None where none said that it does.
    """

    machine: Machine
    subject: str
    latest: Latest | None
    reports: Page[ReportRow]
    is_arriving: bool
    seen: str
    since: int
    sign: SignOfLife | None


def machine_page(visitor: Visitor, lab: str, slug: str, cut: Cut = FIRST_REPORTS) -> MachinePage:
    """Two queries, one more beyond the first page of reports. Raises Machine.DoesNotExist, also for one not to be seen.

    The body is separate (`report_body`), because it is expensive and can be cached.
    """
    machine = _with_latest(machines_at(visitor, lab, slug)).first()
    if machine is None:
        raise Machine.DoesNotExist
    latest = {name: getattr(machine, f"latest_{name}") for name in ("report_id", "taken_at", "read_at", "agent")}
    reports = report_rows(machine, cut)
    newest = [(row.id, row.status, row.received_at) for row in reports.items]
    if cut != FIRST_REPORTS:
        newest = _newest_reports(machine)
    return MachinePage(
        machine=machine,
        subject=machine.subject,
        latest=Latest(**latest) if latest["report_id"] else None,
        reports=reports,
        is_arriving=any(_is_arriving(report) for report in newest),
        seen=_token(machine, newest),
        since=int(timezone.now().timestamp()),
        sign=_sign(machine),
    )


def _sign(machine: Machine) -> SignOfLife | None:
    """Of the agent that stays on it, from what was read with the machine; None where none said that it does."""
    heard_at, every_s, busy = (getattr(machine, name) for name in BEAT)
    if heard_at is None:
        return None
    return sign_of_life(AgentHeartbeat(heard_at=heard_at, every_s=every_s, busy=busy), timezone.now())


def _with_latest(machines: QuerySet[Machine]) -> QuerySet[Machine]:
    latest = {name: F(f"latest_snapshot__{path}") for name, path in LATEST.items()}
    return machines.annotate(**latest, **{name: F(path) for name, path in BEAT.items()})


def report_body(machine: Machine) -> ReportBody | None:
    """All of the machine's latest report; None before one was read. At most fourteen queries, whatever is stored."""
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return None
    return _body(machine, snapshot)


def _body(machine: Machine, snapshot: Snapshot) -> ReportBody:
    judged = stored_report(snapshot)
    report = _presented(machine, judged)
    results = latest_results([machine], [snapshot])[machine.pk]
    columns, not_drawn = drop_unreported_rows([report.column])
    return ReportBody(
        lab=machine.lab.slug,
        slug=machine.slug,
        report=report,
        card_kinds=card_kinds(judged.cards),
        findings=report.findings.listed,
        drawing=draw_columns(columns),
        not_drawn=not_drawn,
        headline=headline_row(results),
        groups=tuple(result_groups(results)),
        left_out=results.left_out,
        lacks_torch=bool(results) and all(result.reason.startswith(NO_TORCH) for result in results),
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


_NewestReport = tuple[UUID, str, datetime]


def seen_token(machine: Machine) -> str:
    """Names the state a page shows: it changes when a report arrives, is read, or fails. One query."""
    return _token(machine, _newest_reports(machine))


def _newest_reports(machine: Machine) -> list[_NewestReport]:
    """Id, status and arrival of as many as a page has. One query."""
    newest = machine.reports.order_by("-received_at", "-pk")
    return list(newest.values_list("pk", "status", "received_at")[:REPORTS_PER_PAGE])


def _token(machine: Machine, newest: Sequence[_NewestReport]) -> str:
    report = f"{newest[0][0]}.{newest[0][1]}" if newest else "."
    return f"{report}.{machine.latest_snapshot_id or ''}"


def _is_arriving(report: _NewestReport) -> bool:
    """Whether it came in a moment ago and is not read yet."""
    _id, status, received_at = report
    return status == Report.Status.RECEIVED and timezone.now() - received_at < WATCHED_FOR


# --- the body as HTML, cached until something on it changes: rendering it costs more than everything else ---

# A key says nothing of older reports that are read again by a newer interpreter: what that changes may show this late.
CACHE_S = 60


def drawn_body(page: MachinePage) -> SafeString:
    """The body as HTML; "" before a report was read. One query while nothing moved.

    It shows the machine's reports, the catalogue (names of sheets, published peaks) and the described stacks; the key
    names the state of each.
    """
    if page.latest is None:
        return SafeString("")
    machine = page.machine
    shown = (machine.pk, machine.name, machine.times_read, page.seen, page.latest)
    state = ("machine", *shown, CatalogueEdition.current(), Edition.current())
    return cached_html(state, lambda: render_part("machines/_body.jinja", body=report_body(page.machine)), CACHE_S)
