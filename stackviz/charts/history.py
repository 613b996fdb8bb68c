"""A series of results over time, as a Plotly figure. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stackviz.charts.bars import DECADES_RATIO
from stackviz.charts.frame import colour, colour_name, empty_figure, frame, plotly_text

HEIGHT_PX = 320
LEAST_SPAN_RATIO = 0.10  # of the middle, to either side: how much a benchmark varies from day to day


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One result, in the chart's unit. `value` None: a failed run, drawn as a gap, never as 0."""

    at: datetime
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One series, oldest point first. `slot`, from 0, decides its colour."""

    label: str
    points: Sequence[HistoryPoint]
    slot: int = 0


def history_figure(title: str, unit: str, lines: Sequence[HistoryLine], empty: str = "no figures") -> dict[str, Any]:
    """A Plotly figure as JSON-ready data: one line per series with its intervals; several are labelled at their ends.

    Without points the figure shows the text `empty`.
    """
    values = [point.value for line in lines for point in line.points if point.value is not None]
    layout = frame(title, HEIGHT_PX, {"type": "date"}, {"title": {"text": plotly_text(unit)}})
    if not values:
        return empty_figure(layout, empty)
    spans_decades = min(values) > 0 and max(values) / min(values) > DECADES_RATIO
    layout["yaxis"] |= {"type": "log"} if spans_decades else {"range": _range(values)}
    return {"data": [_trace(line, is_named=len(lines) > 1) for line in lines], "layout": layout}


def _range(values: Sequence[float]) -> list[float]:
    """Ends of a linear axis around the values, wide enough that noise does not look like a change."""
    low, high = min(values), max(values)
    middle = (low + high) / 2
    half = max((high - low) * 0.6, abs(middle) * LEAST_SPAN_RATIO) or 1.0
    return [middle - half, middle + half]


def _trace(line: HistoryLine, *, is_named: bool) -> dict[str, Any]:
    points = line.points
    last = max((at for at, point in enumerate(points) if point.value is not None), default=-1) if is_named else -1
    label = plotly_text(line.label)
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "name": label,
        "x": [point.at.astimezone(UTC).isoformat() for point in points],
        "y": [point.value for point in points],
        "text": [label if at == last else "" for at in range(len(points))],
        "textposition": "top left",
        "connectgaps": False,
        "line": {"color": colour(line.slot), "width": 2},
        "marker": {"color": colour(line.slot), "size": 6},
        "meta": {"colours": colour_name(line.slot)},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_span(point.value, point.high) for point in points],
            "arrayminus": [_span(point.low, point.value) for point in points],
            "thickness": 1,
            "width": 3,
        },
        "hovertemplate": "%{x|%Y-%m-%d %H:%M}: %{y}<extra>%{fullData.name}</extra>",
    }


def _span(low: float | None, high: float | None) -> float:
    return 0 if low is None or high is None else max(high - low, 0)
