"""One series of a machine: its newest result in full, how it was measured, how it moved, how to do it again."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from stackviz.base.units import format_number, quantity_label
from stackviz.draw.charts.history import HistoryLine, HistoryMark, history_figure
from stackviz.draw.charts.over_time import over_time, strip_of
from stackviz.intake.report_parts.facts import fact_text, in_order, meaning_of, shown_facts
from stackviz.pages.machines.history import (
    DrawnHistory,
    changes_of_series,
    differences_text,
    draw_history,
    fact_title,
    fact_value,
    may_decide,
)
from stackviz.pages.machines.results import result_row
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import Visitor, visible_machines
from stackviz.records.series.history import SeriesHistory, StackChange, StackDifference, decide_change, history_of
from stackviz.records.series.measurement import Measurement, round_medians
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import Point as PastResult
from stackviz.records.series.queries import latest_result
from stackviz.records.series.reproduce import reproduce_command
from stackviz.records.series.words import sample_statistics, sample_text
from stackviz.report.format.facts import CONDITIONS
from stackviz.report.format.facts.conditions import MOMENTS

MOST_IN_MARK = 2  # differences that a mark names; the table names all
SHORT_NAMES = {"torch.version": "torch", "nvidia.driver_version": "driver", "cuda.runtime_version": "CUDA"}


def _over_time(history: SeriesHistory, drawn: DrawnHistory | None) -> dict[str, object] | None:
    """Return the line over time; None for fewer than two results with a rate."""
    if drawn is None:
        return None
    marks = [
        HistoryMark(history.points[change.index].measured_at, mark_text(change.differences))
        for change in history.stack_changes
    ]
    chart = over_time(drawn.points, drawn.levels, marks)
    if chart is None:
        return None
    return {
        "chart": chart,
        "unit": drawn.unit,
        "points": [(point, _dot_text(drawn, point.index)) for point in chart.points],
        "ticks": [(tick.at, format_number(tick.value, 4)) for tick in chart.ticks],
    }


def _dot_text(drawn: DrawnHistory, index: int) -> str:
    """`2026-11-13 08:00: 531 TFLOP/s`."""
    point = drawn.points[index]
    return f"{point.at:%Y-%m-%d %H:%M}: {format_number(point.value or 0.0, 4)} {drawn.unit}"


def _strip(measured: Measurement, samples: Sequence[float]) -> dict[str, object] | None:
    """Return the samples on one axis; None where there is nothing to see: one sample, or equal ones."""
    summary = measured.summary
    strip = strip_of(samples, summary.median, summary.low, summary.high) if summary else None
    if strip is None:
        return None
    return {"strip": strip, "ticks": [(tick.at, sample_text(tick.value, measured.unit)) for tick in strip.ticks]}


def mark_text(differences: Sequence[StackDifference]) -> str:
    """`torch 2.12.0→2.13.0, 700→500 W`: short, because it stands in a chart."""
    shown = ", ".join(_short(each) for each in differences[:MOST_IN_MARK])
    more = len(differences) - MOST_IN_MARK
    return _("%(changes)s and %(n)d more") % {"changes": shown, "n": more} if more > 0 else shown


def _short(difference: StackDifference) -> str:
    before, after = (fact_value(difference.fact, value) for value in (difference.before, difference.after))
    if difference.fact == "power_limit_w":
        return f"{before.removesuffix(' W')}→{after}"
    # The build behind a `+` matters only where the versions agree.
    releases = [re.sub(r"\+.*", "", value)[:24] for value in (before, after)]
    if releases[0] != releases[1]:
        before, after = releases
    return f"{SHORT_NAMES.get(difference.fact) or fact_title(difference.fact)} {before}→{after}"


def _conditions(conditions: Mapping[str, Any]) -> dict[str, object]:
    """Return what was read before, during and after, and the other conditions.

    In the order of the registry; names it does not know come last, as they were sent.
    """
    names = dict.fromkeys(
        name.removeprefix(_moment(name)) for name in in_order(conditions, CONDITIONS) if _moment(name)
    )
    return {
        "readings": [_reading(name, conditions) for name in names],
        "others": shown_facts({name: value for name, value in conditions.items() if not _moment(name)}, CONDITIONS),
    }


def _moment(name: str) -> str:
    return next((moment for moment in MOMENTS if name.startswith(moment)), "")


def _reading(name: str, conditions: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    """Return (name without the moment, meaning, texts of the three moments, "" where it was not read)."""
    facts = [moment + name for moment in MOMENTS]
    return name, meaning_of(facts[0]) or name, [fact_text(fact, conditions.get(fact)) for fact in facts]


SHOWN_POINTS = 20


def series_page(machine: Machine, series_pk: int, visitor: Visitor) -> dict[str, Any]:
    """Return what `machines/_series.html` shows. At most thirteen queries.

    Raise Series.DoesNotExist, also for a series of another machine.
    """
    series = Series.objects.get(pk=series_pk, machine=machine)
    measured = latest_result(series)
    if measured is None:
        raise Series.DoesNotExist
    history = history_of(series)
    shown = Result.objects.filter(report=measured.report_id, position=measured.position)
    samples: Sequence[float] = next(iter(shown.values_list("samples", flat=True)), [])
    drawn = draw_history(history, measured.benchmark, measured.params) if measured.benchmark else None
    changes = {history.points[change.index].report_id: change for change in history.stack_changes}
    return {
        "machine": machine,
        "measured": measured,
        "row": result_row(measured),
        "conditions": _conditions(measured.conditions),
        "statistics": sample_statistics(measured.summary, measured.unit, round_medians(measured.conditions, samples)),
        "samples": [sample_text(sample, measured.unit) for sample in samples],
        "strip": _strip(measured, samples),
        "line": _over_time(history, drawn),
        "past": [
            _past_point(measured, point, changes.get(point.report_id))
            for point in reversed(history.points[-SHOWN_POINTS:])
        ],
        "command": reproduce_command(measured),
        **changes_of_series(history, measured, machine, visitor, listed=SHOWN_POINTS),
    }


def drawn_series(
    request: HttpRequest, machine: Machine, series_pk: int, visitor: Visitor, problems: Sequence[str] = ()
) -> tuple[str, str]:
    """(title, body) as HTML. Only members of the lab have forms on it, which need the request.

    Raise Series.DoesNotExist, also for a series of another machine.
    """
    page = series_page(machine, series_pk, visitor) | {"problems": problems}
    measured = page["measured"]
    title = format_html("{} {} · {}", measured.title, measured.setting, machine.name)
    return title, render_to_string("machines/_series.html", page, request if page["may_decide"] else None)


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


def _past_point(measured: Measurement, point: PastResult, change: StackChange | None) -> tuple[PastResult, str, str]:
    """Return the result, its rate, "" where it has none, and what the stack states differently from the one before."""
    rate, known = _rate(measured, point.seconds), measured.benchmark
    label = quantity_label(rate, known.unit_of(measured.params), digits=4) if rate is not None and known else ""
    return point, label, differences_text(change.differences) if change else ""


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, lab: str, slug: str, series_id: int) -> HttpResponse:
    """Back to the series. Public readers may look, not decide; what cannot be decided is explained on the page.

    A GET comes from whoever had to log in before deciding, or changed the language of the explanation.
    """
    changes = reverse("machines:series", args=[lab, slug, series_id]) + "#changes"
    if request.method != "POST":
        return redirect(changes)
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    series = get_object_or_404(Series, pk=series_id, machine=machine)
    if not may_decide(request.user, machine):
        raise PermissionDenied
    posted = request.POST
    try:
        report = UUID(posted.get("report", ""))
    except ValueError as error:
        raise Http404 from error
    try:
        decide_change(series, report, posted.get("answer", ""), request.user, posted.get("note", ""))
    except ValidationError as error:
        title, body = drawn_series(request, machine, series_id, request.user, error.messages)
        return render(request, "machines/series.html", {"title": title, "body": body}, status=422)
    return redirect(changes)
