"""`/benchmarks/withdrawn/`: the public log of results taken back, replaced or doubted, each with the reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.benchmarks.measured_ranking import run_address
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import not_charted
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import result_address
from stackviz.records.labs.models import ReportWithdrawal
from stackviz.records.labs.queries import Visitor, visible_reports
from stackviz.records.series.measurement import benchmark_titles, setting_label
from stackviz.records.series.models import Result, ResultDecision
from stackviz.records.series.standing import Standing
from stackviz.web.http.address import AddressReader, whole_number
from stackviz.web.http.addresses import address_by_id

__all__ = ["log_page", "urlpatterns"]

PER_PAGE = 100
_CITED_STATES = (CitedResult.State.WITHDRAWN, CitedResult.State.DOUBTFUL)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One result that is not charted. `on`: the machine, or the source; `replaced_by`: address, "" for none."""

    title: str
    url: str
    on: str
    on_url: str
    state: str
    reason: str
    day: str
    replaced_by: str = ""


@dataclass(frozen=True, slots=True)
class LogPart:
    """One table of the log; `following`: the address of the next lines, "" at the end."""

    id: str
    title: str
    lines: Sequence[LogLine]
    following: str


@require_safe
def log_page(request: HttpRequest) -> HttpResponse:
    """Measured results of visible labs, newest decision first, whole reports, and cited ones. Nine queries at most."""
    reader = AddressReader(request.GET)
    state = reader.choice("state", ("reports", "measured", *_CITED_STATES), _("state"))
    after = reader.parsed("after", lambda text: whole_number(text, max_digits=18), _("“%(value)s” is no position"))
    notes = reader.notes({"state", "after"})
    parts = []
    if state in ("", "reports"):
        parts.append(_reports_part(request.user, (after or 0) if state else 0))
    if state in ("", "measured"):
        parts.append(_measured_part(request.user, (after or 0) if state else 0))
    parts += [_cited_part(cited, (after or 0) if state else 0) for cited in _CITED_STATES if state in ("", str(cited))]
    return render(request, "benchmarks/log.html", {"parts": parts, "notes": notes, "is_part": bool(state)})


def _measured_part(user: Visitor, before: int) -> LogPart:
    """Decisions that hold, newest first. Four queries."""
    of_same = ResultDecision.objects.filter(report=OuterRef("report"), position=OuterRef("position"))
    rows = ResultDecision.objects.filter(
        ~Exists(of_same.filter(pk__gt=OuterRef("pk"))),
        standing__in=(Standing.WITHDRAWN, Standing.SUPERSEDED),
        report__in=visible_reports(user).order_by().values("pk"),
    )
    if before:
        rows = rows.filter(pk__lt=before)
    decisions = list(rows.select_related("report__machine__lab").defer("report__body").order_by("-pk")[: PER_PAGE + 1])
    shown = decisions[:PER_PAGE]
    titles = _titles((decision.report_id, decision.position) for decision in shown)
    following = f"?state=measured&after={shown[-1].pk}" if len(decisions) > PER_PAGE else ""
    lines = [_measured_line(row, titles.get((row.report_id, row.position), "")) for row in shown]
    return LogPart("measured", _("Measured: withdrawn and superseded"), lines, following)


def _reports_part(user: Visitor, before: int) -> LogPart:
    """Withdrawals of whole reports that hold, newest first. One query."""
    rows = ReportWithdrawal.objects.filter(
        undone_at__isnull=True, report__in=visible_reports(user).order_by().values("pk")
    )
    if before:
        rows = rows.filter(pk__lt=before)
    newest = list(rows.select_related("report__machine__lab").defer("report__body").order_by("-pk")[: PER_PAGE + 1])
    shown = newest[:PER_PAGE]
    following = f"?state=reports&after={shown[-1].pk}" if len(newest) > PER_PAGE else ""
    lines = [_report_line(row) for row in shown]
    return LogPart("reports", _("Reports: withdrawn and superseded"), lines, following)


def _report_line(row: ReportWithdrawal) -> LogLine:
    report = row.report
    return LogLine(
        title=_("Report of %(day)s") % {"day": f"{report.received_at:%Y-%m-%d %H:%M}"},
        url=address_by_id("ingest:receipt", report.pk),
        on=report.machine.name,
        on_url=report.machine.get_absolute_url(),
        state=str(report.get_withdrawal_display()),
        reason=row.reason,
        day=f"{row.made_at:%Y-%m-%d}",
        replaced_by=str(row.replaced_by_id or ""),
    )


def _titles(places: Iterable[tuple[UUID, int]]) -> dict[tuple[UUID, int], str]:
    """(report, position) -> `Matrix product bf16 8192³ on cuda:0`. One query."""
    wanted = set(places)
    fields = ("report_id", "position", "series__benchmark", "series__version", "series__params", "series__device")
    rows = Result.objects.filter(
        report__in={report for report, _position in wanted}, position__in={position for _report, position in wanted}
    ).values_list(*fields)
    titles, names = {}, benchmark_titles()
    for report, position, key, version, params, device in rows:
        name = names.get((key, version), key)
        titles[report, position] = f"{name} {setting_label(params)} · {device}"
    return titles


def _measured_line(row: ResultDecision, title: str) -> LogLine:
    machine = row.report.machine
    return LogLine(
        title=title or _("no longer stored"),
        url=run_address(row.report_id, row.position) if title else "",
        on=machine.name,
        on_url=machine.get_absolute_url(),
        state=str(row.get_standing_display()),
        reason=row.reason,
        day=f"{row.at:%Y-%m-%d}",
        replaced_by=str(row.replaced_by_id or ""),
    )


def _cited_part(state: str, after: int) -> LogPart:
    """Cited results of one state, oldest row first. One query."""
    rows = list(not_charted(state, after=after, limit=PER_PAGE + 1))
    shown = rows[:PER_PAGE]
    following = f"?state={state}&after={shown[-1].pk}" if len(rows) > PER_PAGE else ""
    title = _("Cited: withdrawn") if state == CitedResult.State.WITHDRAWN else _("Cited: doubtful")
    return LogPart(f"cited-{state}", title, [_cited_line(row) for row in shown], following)


def _cited_line(row: CitedResult) -> LogLine:
    known = CITED_BENCHMARKS.get(row.benchmark)
    return LogLine(
        title=f"{row.reported_name}: {row.printed} · {known.title if known else row.benchmark}",
        url=result_address(row),
        on=row.source.title,
        on_url=row.source.url,
        state=str(row.get_state_display()),
        reason=row.reason,
        day="",
    )


urlpatterns = [path("benchmarks/withdrawn/", log_page, name="withdrawn")]
