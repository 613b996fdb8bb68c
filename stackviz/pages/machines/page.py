"""All that a machine's page shows, put together from the rooms below with a fixed number of queries."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone
from django.utils.safestring import SafeString

from stackviz.base.stats.changes import MIN_RESULTS
from stackviz.draw.charts.sparkline import sparkline
from stackviz.draw.diagrams.columns import drop_unreported_rows
from stackviz.draw.diagrams.stack import StackDrawing, draw_columns
from stackviz.intake.report_parts.cards import card_kinds
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
from stackviz.pages.machines.report_rows import FIRST_REPORTS, REPORTS_PER_PAGE, report_rows
from stackviz.pages.machines.results import NO_TORCH, result_groups
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.labs.heartbeats import SignOfLife, sign_of_life
from stackviz.records.labs.models import AgentHeartbeat, Machine, Report
from stackviz.records.labs.queries import Visitor, latest_snapshots, machines_at
from stackviz.records.series.history import headline_result, trend_of
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.queries import latest_results
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.reported import stack_slug
from stackviz.web.paging import Cut
from stackviz.web.parts import cached_html, render_part


def _trend(results: Sequence[Measurement]) -> dict[str, object] | None:
    """Return how the result that stands for the machine moved; None where no result counts. Four queries."""
    result = headline_result(results)
    if result is None or result.rate is None:
        return None
    trend = trend_of(result)
    drawn = draw_history(trend.history, result.benchmark, result.params) if result.benchmark else None
    return {
        "result": result,
        "trend": trend,
        "moved": signed_percent(trend.factor) if trend.factor is not None and not trend.is_steady else "",
        "causes": differences_text(trend.causes),
        "least": MIN_RESULTS,
        "line": sparkline(drawn.points, drawn.levels, drawn.marks) if drawn else None,
    }


# A report is read within seconds; one that waits longer than this is no longer watched for.
WATCHED_FOR = timedelta(minutes=15)
# Of the newest report that was read: name behind `latest_` -> where the snapshot has it.
LATEST = {"report_id": "report_id", "read_at": "report__read_at", "agent": "agent"}
BEAT = {"beat_at": "heartbeat__heard_at", "beat_every_s": "heartbeat__every_s", "beat_busy": "heartbeat__busy"}
ON_NVIDIA = ("nvidia.driver_version", "cuda.runtime_version")
ON_APPLE = ("memory.gpu_limit_bytes", "mps.available")


def latest_machine(visitor: Visitor, lab: str, slug: str) -> Machine:
    """Return the machine with its latest report. One query.

    Raise Machine.DoesNotExist, also for one that this visitor may not see.
    """
    latest = {f"latest_{name}": F(f"latest_snapshot__{path}") for name, path in LATEST.items()}
    beats = {name: F(path) for name, path in BEAT.items()}
    return machines_at(visitor, lab, slug).annotate(**latest, **beats).get()


def machine_context(machine: Machine, cut: Cut = FIRST_REPORTS) -> dict[str, object]:
    """Return all that the page of a `latest_machine` shows. Two queries beyond the first page of reports, else one.

    `seen` names the state that is shown, see `seen_token`; `since` is when it was drawn, in seconds since 1970.
    """
    reports = report_rows(machine, cut)
    newest = [(row.id, row.status, row.received_at) for row in reports.items]
    if cut != FIRST_REPORTS:
        newest = _newest_reports(machine)
    seen = _token(machine, newest)
    return {
        "machine": machine,
        "reports": reports,
        "is_arriving": any(_is_arriving(report) for report in newest),
        "seen": seen,
        "since": int(timezone.now().timestamp()),
        "sign": _sign(machine),
        "body": _drawn_body(machine, seen),
    }


def _sign(machine: Machine) -> SignOfLife | None:
    """Of the agent that stays on it, from what was read with the machine; None where none said that it does."""
    heard_at, every_s, busy = (getattr(machine, name) for name in BEAT)
    if heard_at is None:
        return None
    return sign_of_life(AgentHeartbeat(heard_at=heard_at, every_s=every_s, busy=busy), timezone.now())


def machine_drawing(machine: Machine) -> StackDrawing | None:
    """Return the stack of the machine's latest report; None before one was read."""
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return None
    return draw_columns(drop_unreported_rows([_presented(machine, stored_report(snapshot)).column])[0])


def _report_body(machine: Machine) -> SafeString:
    """Draw all of the machine's latest report. At most fourteen queries, whatever is stored."""
    snapshot = latest_snapshots([machine])[machine.pk]
    judged = stored_report(snapshot)
    report = _presented(machine, judged)
    results = latest_results([machine], [snapshot])[machine.pk]
    columns, not_drawn = drop_unreported_rows([report.column])
    return render_part(
        "machines/_body.jinja",
        machine=machine,
        report=report,
        card_kinds=card_kinds(judged.cards),
        drawing=draw_columns(columns),
        not_drawn=not_drawn,
        trend=_trend(results),
        groups=result_groups(results),
        left_out=results.left_out,
        lacks_torch=bool(results) and all(result.reason.startswith(NO_TORCH) for result in results),
        probes=[probe for probe in snapshot.probes if probe.get("state") != "ok"],
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


def _drawn_body(machine: Machine, seen: str) -> SafeString:
    """Return the body as HTML; "" before a report was read. One query while nothing moved.

    It shows the machine's reports, the catalogue (names of sheets, published peaks) and the described stacks; the key
    names the state of each.
    """
    if machine.latest_snapshot_id is None:
        return SafeString("")
    latest = [getattr(machine, f"latest_{name}") for name in ("taken_at", *LATEST)]
    state = ("machine", machine.pk, machine.name, machine.times_read, seen, *latest)
    state += (CatalogueEdition.current(), Edition.current())
    return cached_html(state, lambda: _report_body(machine), CACHE_S)
