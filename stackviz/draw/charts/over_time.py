"""Results over time as SVG: a line with intervals, levels over it, labelled marks across it; and a strip of samples.

Places are per cent of the drawing, so that it stretches while letters keep their size. Pure data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from stackviz.draw.charts.history import HistoryLevel, HistoryMark, HistoryPoint, value_range
from stackviz.draw.charts.scale import Mark, Scale, scale_for, spans_decades

MOST_LABELS = 4  # of marks: each takes a line above the drawing
MOST_SAMPLES = 400  # drawn; more would lie on one another
DATES = 4
_TURN = 55.0  # per cent: labels of later marks stand left of them
_EDGE = 2.0  # per cent free on the left and on the right
_DAY = timedelta(days=1)

Across = Callable[[datetime], float]
Down = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class FigureTick:
    """A place on an axis, in per cent from its low end. `value` is in the chart's unit."""

    at: float
    value: float


@dataclass(frozen=True, slots=True)
class ResultDot:
    """One result: from the left and from the top. `low`, `high`: ends of its interval. `index`: which result."""

    x: float
    y: float
    low: float | None
    high: float | None
    index: int


@dataclass(frozen=True, slots=True)
class PlacedLevel:
    start: float
    end: float
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """`row`: the line of its label, from 0 at the bottom; None: it has no label. `is_left`: of the mark."""

    x: float
    text: str
    row: int | None
    is_left: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OverTime:
    """`lines`: `x,y x,y` of polylines, broken at failed runs. `rows`: lines of labels above the drawing."""

    points: tuple[ResultDot, ...]
    lines: tuple[str, ...]
    levels: tuple[PlacedLevel, ...]
    marks: tuple[PlacedMark, ...]
    ticks: tuple[FigureTick, ...]
    dates: tuple[Mark, ...]
    rows: int


def over_time(
    points: Sequence[HistoryPoint], levels: Sequence[HistoryLevel] = (), marks: Sequence[HistoryMark] = ()
) -> OverTime | None:
    """`points` oldest first. None for fewer than two with a value."""
    values = [point.value for point in points if point.value is not None]
    if len(values) < 2:
        return None
    low, high = value_range(values)
    scale = scale_for(values, "log", margin=0.1) if spans_decades(values) else Scale("linear", low, high)
    start, seconds = points[0].at, (points[-1].at - points[0].at).total_seconds() or 1.0

    def across(at: datetime) -> float:
        return round(_EDGE + (100 - 2 * _EDGE) * (at - start).total_seconds() / seconds, 2)

    def down(value: float) -> float:
        return round(100 - scale.percent(value), 2)

    placed = [_placed(index, point, across, down) for index, point in enumerate(points)]
    placed_marks = _marks([(across(mark.at), mark.text) for mark in marks])
    return OverTime(
        points=tuple(point for point in placed if point is not None),
        lines=tuple(" ".join(f"{point.x},{point.y}" for point in part) for part in _unbroken(placed)),
        levels=tuple(
            PlacedLevel(across(level.start), across(level.end), down(level.value), level.label) for level in levels
        ),
        marks=placed_marks,
        ticks=tuple(FigureTick(round(scale.percent(tick), 2), tick) for tick in scale.ticks(18)),
        dates=_dates(points[0].at, points[-1].at, across),
        rows=sum(mark.row is not None for mark in placed_marks),
    )


def _placed(index: int, point: HistoryPoint, across: Across, down: Down) -> ResultDot | None:
    if point.value is None:
        return None
    low, high = (None if end is None else down(end) for end in (point.low, point.high))
    return ResultDot(across(point.at), down(point.value), low, high, index)


def _unbroken(placed: Sequence[ResultDot | None]) -> list[list[ResultDot]]:
    parts: list[list[ResultDot]] = [[]]
    for point in placed:
        if point is None:
            parts.append([])
        else:
            parts[-1].append(point)
    return [part for part in parts if len(part) > 1]


def _marks(placed: Sequence[tuple[float, str]]) -> tuple[PlacedMark, ...]:
    """The newest have labels, each on its own line: the newest at the bottom."""
    newest = range(max(len(placed) - MOST_LABELS, 0), len(placed))
    return tuple(
        PlacedMark(x, text, len(placed) - 1 - at if at in newest else None, x > _TURN)
        for at, (x, text) in enumerate(placed)
    )


def _dates(first: datetime, last: datetime, across: Across) -> tuple[Mark, ...]:
    """Return evenly spaced midnights, or the two ends of a range under two days."""
    first, last = first.astimezone(UTC), last.astimezone(UTC)
    if last - first < 2 * _DAY:
        return tuple(Mark(across(at), f"{at:%Y-%m-%d %H:%M}") for at in dict.fromkeys((first, last)))
    every = -(-(last - first) // (DATES * _DAY))
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
    ticks = []
    while midnight <= last:
        ticks.append(Mark(across(midnight), f"{midnight:%Y-%m-%d}"))
        midnight += max(every, 1) * _DAY
    return tuple(ticks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Samples as dots from the fastest to the slowest end, in the order they were taken from top to bottom."""

    dots: tuple[tuple[float, float], ...]
    median: float
    low: float | None
    high: float | None
    ticks: tuple[FigureTick, ...]


def _within(scale: Scale, end: float | None) -> float | None:
    """Where an end of the interval lies; at the edge if that is beyond: an interval of few rounds is wide."""
    return None if end is None else round(min(100.0, max(0.0, scale.percent(end))), 2)


def strip_of(samples: Sequence[float], median: float, low: float | None, high: float | None) -> Strip | None:
    """None for fewer than two samples, or samples that are all equal. Of very many the first MOST_SAMPLES are drawn."""
    drawn = samples[:MOST_SAMPLES]
    least, most = min(drawn, default=0.0), max(drawn, default=0.0)
    if len(drawn) < 2 or least == most:
        return None
    room = (most - least) * 0.08
    scale = Scale("linear", least - room, most + room)
    return Strip(
        dots=tuple(
            (round(scale.percent(sample), 2), round((at + 0.5) / len(drawn) * 100, 2))
            for at, sample in enumerate(drawn)
        ),
        median=round(scale.percent(median), 2),
        low=_within(scale, low),
        high=_within(scale, high),
        ticks=tuple(FigureTick(round(scale.percent(tick), 2), tick) for tick in scale.ticks(22)),
    )
