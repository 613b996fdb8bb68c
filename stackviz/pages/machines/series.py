"""One series of a machine: its newest result in full, how it was measured, how it moved, how to do it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stackviz.base.units import quantity_label
from stackviz.draw.charts.history import HistoryLine, history_figure
from stackviz.pages.machines.conditions import ShownConditions, shown_conditions
from stackviz.pages.machines.drawn_history import draw_history
from stackviz.pages.machines.history import PastOfSeries, differences_text, past_of_series
from stackviz.pages.machines.results import ResultRow, result_row
from stackviz.pages.machines.shown_history import ShownHistory, ShownSamples, shown_history, shown_samples
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.history import StackChange, history_of
from stackviz.records.series.measurement import Measurement, round_medians
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import Point as PastResult
from stackviz.records.series.queries import latest_result
from stackviz.records.series.reproduce import reproduce_command
from stackviz.records.series.words import sample_statistics, sample_text
from stackviz.web.reverse import address_by_id

SHOWN_POINTS = 20


@dataclass(frozen=True, slots=True)
class PastRow:
    """One earlier result in the table under the line. `label` is empty for a run that failed.

    `changes`: what the stack states differently from the result before.
    """

    measured_at: datetime
    receipt_url: str
    label: str
    reason: str
    changes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPage:
    machine: Machine
    measured: Measurement
    row: ResultRow
    conditions: ShownConditions
    statistics: Sequence[tuple[str, str]]
    samples: Sequence[str]
    strip: ShownSamples | None
    result_url: str
    line: ShownHistory | None
    past: Sequence[PastRow]
    history: PastOfSeries
    command: str

    @property
    def title(self) -> SafeString:
        return format_html("{} {} · {}", self.measured.title, self.measured.setting, self.machine.name)


def series_page(machine: Machine, series_pk: int, visitor: Visitor) -> SeriesPage:
    """At most thirteen queries. Raises Series.DoesNotExist, also for a series of another machine."""
    series = Series.objects.get(pk=series_pk, machine=machine)
    measured = latest_result(series)
    if measured is None:
        raise Series.DoesNotExist
    history = history_of(series)
    past = history.points
    shown = Result.objects.filter(report=measured.report_id, position=measured.position)
    samples: Sequence[float] = next(iter(shown.values_list("samples", flat=True)), [])
    drawn = draw_history(history, measured.benchmark, measured.params) if measured.benchmark else None
    changes = {history.points[change.index].report_id: change for change in history.stack_changes}
    return SeriesPage(
        machine=machine,
        measured=measured,
        row=result_row(measured),
        conditions=shown_conditions(measured.conditions),
        statistics=sample_statistics(measured.summary, measured.unit, round_medians(measured.conditions, samples)),
        samples=[sample_text(sample, measured.unit) for sample in samples],
        strip=shown_samples(measured, samples),
        result_url=reverse("benchmarks:run", args=[measured.report_id, measured.position]),
        line=shown_history(history, drawn),
        past=[_past_row(measured, point, changes.get(point.report_id)) for point in reversed(past[-SHOWN_POINTS:])],
        history=past_of_series(history, measured, machine, visitor, listed=SHOWN_POINTS),
        command=reproduce_command(measured),
    )


def drawn_series(shown: SeriesPage, request: HttpRequest, problems: Sequence[str] = ()) -> tuple[str, str]:
    """(title, body) as HTML. Only members of the lab have forms on it, which need the request."""
    with_forms = request if shown.history.may_decide else None
    return shown.title, render_to_string("machines/_series.html", {"shown": shown, "problems": problems}, with_forms)


def _rate(measured: Measurement, sample: float | None) -> float | None:
    return measured.benchmark.rate(measured.params, sample) if measured.benchmark else None


def series_figure(machine: Machine, series_pk: int) -> dict[str, Any] | None:
    """The line over time for plotly.js; None while there is only one point, or no rate to draw. Nine queries at most.

    Raises Series.DoesNotExist, also for a series of another machine.
    """
    series = Series.objects.get(pk=series_pk, machine=machine)
    measured = latest_result(series)
    if measured is None or measured.benchmark is None:
        return None
    drawn = draw_history(history_of(series), measured.benchmark, measured.params)
    if drawn is None:
        return None
    title = f"{measured.title} {measured.setting}, {measured.device}"
    return history_figure(
        title, drawn.unit, [HistoryLine(measured.setting, drawn.points)], marks=drawn.marks, levels=drawn.levels
    )


def _past_row(measured: Measurement, point: PastResult, change: StackChange | None) -> PastRow:
    rate, known = _rate(measured, point.seconds), measured.benchmark
    label = quantity_label(rate, known.unit_of(measured.params), digits=4) if rate is not None and known else ""
    return PastRow(
        measured_at=point.measured_at,
        receipt_url=address_by_id("ingest:receipt", point.report_id),
        label=label,
        reason=point.reason or point.state,
        changes=differences_text(change.differences) if change else "",
    )
