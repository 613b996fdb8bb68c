"""The one result that a machine is asked for first, and how it moved: against its last change, or the result before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackviz.records.series.comparability import is_rankable
from stackviz.records.series.history import RECENT_POINTS, SeriesHistory, StackDifference, history_of
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import Series
from stackviz.records.series.prominence import benchmark_place, dtype_place, is_accelerated
from stackviz.records.series.queries import Point

_SIDE = 8192  # large enough for every accelerator, measured by quick runs too
LEAST_STEP = 0.02  # a smaller difference of two results is not told from noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """`factor`: rate now over rate before; None where there is nothing before it. `before`: the result it is against.

    `is_level`: of a change of level, not of two single results. `causes`: what the stack states differently.
    """

    history: SeriesHistory
    counted: int
    factor: float | None = None
    before: Point | None = None
    is_level: bool = False
    causes: Sequence[StackDifference] = ()

    @property
    def is_steady(self) -> bool:
        return self.factor is not None and abs(self.factor - 1) < LEAST_STEP


def headline_result(results: Iterable[Measurement]) -> Measurement | None:
    """The result a machine's page begins with: on a card before the CPU, the product in bf16 before other settings."""
    ranked = [result for result in results if result.rate and is_rankable(result)]
    return min(ranked, key=_order, default=None)


def _order(result: Measurement) -> tuple[object, ...]:
    side = result.params.get("m", 0)
    return (
        not is_accelerated(result),
        benchmark_place(result.benchmark_key),
        dtype_place(result.params.get("dtype")),
        side != _SIDE,
        -(side if isinstance(side, int) else 0),
        -(result.rate.speed if result.rate else 0.0),
    )


def trend_of(result: Measurement) -> Trend:
    """How the series of this result moved over its newest results. Four queries."""
    series = Series(
        pk=result.series_id,
        machine_id=result.machine_id,
        benchmark=result.benchmark_key,
        version=result.version,
        card_index=result.card_index,
    )
    return found_trend(history_of(series, RECENT_POINTS), result)


def found_trend(history: SeriesHistory, result: Measurement) -> Trend:
    """The newest change of level that nobody dismissed; without one the newest result beside the one it follows.

    That is the last one before the stack changed for the last time, or else the one right before.
    """
    counted = [point for point in history.points if point.counts]
    changes = [change for change in history.change_points if not change.is_dismissed]
    if changes:
        change = changes[-1]
        return Trend(
            history=history,
            counted=len(counted),
            factor=change.factor,
            before=change.last_before,
            is_level=True,
            causes=change.causes,
        )
    if len(counted) < 2:
        return Trend(history=history, counted=len(counted))
    before, causes = _before_last_stack_change(history) or (counted[-2], ())
    return Trend(
        history=history, counted=len(counted), factor=_factor(result, before, counted[-1]), before=before, causes=causes
    )


def _before_last_stack_change(history: SeriesHistory) -> tuple[Point, Sequence[StackDifference]] | None:
    for change in reversed(history.stack_changes):
        before = history.points[change.index - 1]
        if before.counts and any(point.counts for point in history.points[change.index :]):
            return before, change.differences
    return None


def _factor(result: Measurement, before: Point, now: Point) -> float | None:
    if result.benchmark is None:
        return None
    then, newest = (result.benchmark.rate(result.params, point.seconds) for point in (before, now))
    if not newest or not then:
        return None
    return then / newest if result.benchmark.is_time else newest / then
