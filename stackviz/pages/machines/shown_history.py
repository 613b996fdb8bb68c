"""The past of a series as a page draws it: a line with its words, the marks where the stack changed, the samples."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.draw.charts.history import HistoryMark
from stackviz.draw.charts.over_time import OverTime, ResultDot, Strip, over_time, strip_of
from stackviz.pages.machines.drawn_history import DrawnHistory
from stackviz.pages.machines.history import fact_title, fact_value
from stackviz.records.series.history import SeriesHistory, StackDifference
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.words import sample_text

MOST_IN_MARK = 2  # differences that a mark names; the table names all
SHORT_NAMES = {"torch.version": "torch", "nvidia.driver_version": "driver", "cuda.runtime_version": "CUDA"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHistory:
    """`points`: with what is said of each; `ticks`: place and figure; `unit`: of them."""

    chart: OverTime
    unit: str
    points: Sequence[tuple[ResultDot, str]]
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class ShownSamples:
    strip: Strip
    ticks: Sequence[tuple[float, str]]


def shown_history(history: SeriesHistory, drawn: DrawnHistory | None) -> ShownHistory | None:
    """None for fewer than two results with a rate."""
    if drawn is None:
        return None
    marks = [
        HistoryMark(history.points[change.index].measured_at, mark_text(change.differences))
        for change in history.stack_changes
    ]
    chart = over_time(drawn.points, drawn.levels, marks)
    if chart is None:
        return None
    return ShownHistory(
        chart=chart,
        unit=drawn.unit,
        points=[(point, _dot_text(drawn, point.index)) for point in chart.points],
        ticks=[(tick.at, format_number(tick.value, 4)) for tick in chart.ticks],
    )


def _dot_text(drawn: DrawnHistory, index: int) -> str:
    """`2026-11-13 08:00: 531 TFLOP/s`."""
    point = drawn.points[index]
    return f"{point.at:%Y-%m-%d %H:%M}: {format_number(point.value or 0.0, 4)} {drawn.unit}"


def shown_samples(measured: Measurement, samples: Sequence[float]) -> ShownSamples | None:
    """None where there is nothing to see: one sample, or equal ones."""
    summary = measured.summary
    strip = strip_of(samples, summary.median, summary.low, summary.high) if summary else None
    if strip is None:
        return None
    return ShownSamples(strip, [(tick.at, sample_text(tick.value, measured.unit)) for tick in strip.ticks])


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
