"""The past of a series as points, levels and marks of a chart, in the chart's unit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from stackviz.base.units import format_number, from_si
from stackviz.draw.charts.history import HistoryLevel, HistoryMark, HistoryPoint
from stackviz.pages.machines.history import differences_text
from stackviz.records.series.history import SeriesHistory
from stackviz.records.series.words import chart_unit
from stackviz.report.measuring import Benchmark

InUnit = Callable[[float | None], float | None]


@dataclass(frozen=True, slots=True)
class DrawnHistory:
    """`unit`: of all values. `levels`: on both sides of each change that nobody dismissed, none without one."""

    unit: str
    points: Sequence[HistoryPoint]
    levels: Sequence[HistoryLevel]
    marks: Sequence[HistoryMark]


def draw_history(history: SeriesHistory, benchmark: Benchmark, params: Mapping[str, Any]) -> DrawnHistory | None:
    """None while fewer than two points have a rate."""
    rates = [benchmark.rates(params, point.seconds, point.low, point.high) for point in history.points]
    known = [rate for rate, _low, _high in rates if rate is not None]
    if len(known) < 2:
        return None
    symbol = chart_unit(benchmark.unit_of(params), max(known))

    def in_unit(rate: float | None) -> float | None:
        return None if rate is None else from_si(rate, symbol)

    return DrawnHistory(
        unit=symbol,
        points=[
            HistoryPoint(point.measured_at, in_unit(rate), in_unit(low), in_unit(high))
            for point, (rate, low, high) in zip(history.points, rates, strict=True)
        ],
        levels=_levels(history, lambda sample: in_unit(benchmark.rate(params, sample))),
        marks=[
            HistoryMark(history.points[change.index].measured_at, differences_text(change.differences))
            for change in history.stack_changes
        ],
    )


def signed_percent(factor: float) -> str:
    """`−5 %`, `+12 %`, of a rate: short, because several stand in one chart."""
    return f"{'−' if factor < 1 else '+'}{format_number(abs(factor - 1) * 100, 2)} %"


def _levels(history: SeriesHistory, shown: InUnit) -> list[HistoryLevel]:
    changes = [change for change in history.change_points if not change.is_dismissed]
    if not changes:
        return []
    counted = [point for point in history.points if point.counts]
    starts = [counted[0], *(change.point for change in changes)]
    ends = [*(change.last_before for change in changes), counted[-1]]
    labels = ["", *(signed_percent(change.factor) for change in changes)]
    levels = []
    for start, end, label in zip(starts, ends, labels, strict=True):
        stretch = counted[counted.index(start) : counted.index(end) + 1]
        value = shown(median(point.seconds for point in stretch if point.seconds is not None))
        if value is not None:
            levels.append(HistoryLevel(start.measured_at, end.measured_at, value, label))
    return levels
