"""A small line of results over time for a list, with what happened, as plain data for SVG. No ORM, no request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from stackviz.draw.charts.history import HistoryLevel, HistoryMark, HistoryPoint

WIDTH, HEIGHT = 320, 56
_EDGE = 4
_LEAST_SPAN_RATIO = 0.02  # of the middle, to either side: less looks like a change where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """`lines`: points of polylines, broken at failed runs; `levels`: of the levels; `marks`: x of what happened."""

    lines: tuple[str, ...]
    levels: tuple[str, ...]
    marks: tuple[int, ...]
    width: int = WIDTH
    height: int = HEIGHT


def sparkline(
    points: Sequence[HistoryPoint], levels: Sequence[HistoryLevel] = (), marks: Sequence[HistoryMark] = ()
) -> Sparkline | None:
    """None for fewer than two points with a value."""
    values = [point.value for point in points if point.value is not None]
    if len(values) < 2:
        return None
    start, seconds = points[0].at, (points[-1].at - points[0].at).total_seconds() or 1.0
    middle = (min(values) + max(values)) / 2
    half = max((max(values) - min(values)) / 2, abs(middle) * _LEAST_SPAN_RATIO) or 1.0

    def across(at: datetime) -> int:
        return round(_EDGE + (WIDTH - 2 * _EDGE) * (at - start).total_seconds() / seconds)

    def down(value: float) -> int:
        return round(_EDGE + (HEIGHT - 2 * _EDGE) * (0.5 - (value - middle) / half / 2))

    def path(ends: Sequence[tuple[datetime, float]]) -> str:
        return " ".join(f"{across(at)},{down(value)}" for at, value in ends)

    return Sparkline(
        lines=tuple(path(part) for part in _unbroken(points)),
        levels=tuple(path([(level.start, level.value), (level.end, level.value)]) for level in levels),
        marks=tuple(across(mark.at) for mark in marks),
    )


def _unbroken(points: Sequence[HistoryPoint]) -> list[list[tuple[datetime, float]]]:
    parts: list[list[tuple[datetime, float]]] = [[]]
    for point in points:
        if point.value is None:
            parts.append([])
        else:
            parts[-1].append((point.at, point.value))
    return [part for part in parts if len(part) > 1]
