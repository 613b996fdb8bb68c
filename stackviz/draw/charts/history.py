"""A series of results over time, as a Plotly figure. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stackviz.draw.charts.frame import INK, INK_2, empty_figure, frame, plotly_text
from stackviz.draw.charts.scale import spans_decades
from stackviz.draw.colours import GREY, Hue

HEIGHT_PX = 320
_LABELS_APART = 0.08  # of the axis
_LABEL_TURNS = 0.8  # of the time shown: a label that begins later stands left of its place
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
    """One series, oldest point first."""

    label: str
    points: Sequence[HistoryPoint]
    hue: Hue = GREY


@dataclass(frozen=True, slots=True)
class HistoryMark:
    """Something that happened: a line across the chart with `text` beside the pointer."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class HistoryLevel:
    """A stretch at one level, from the first to the last of its results. `label` where it begins: `-5 %`."""

    start: datetime
    end: datetime
    value: float
    label: str = ""


def history_figure(
    title: str,
    unit: str,
    lines: Sequence[HistoryLine],
    empty: str = "no figures",
    *,
    marks: Sequence[HistoryMark] = (),
    levels: Sequence[HistoryLevel] = (),
) -> dict[str, Any]:
    """A Plotly figure as JSON-ready data: one line per series with its intervals; several are labelled at their ends.

    Levels lie over the line, marks across it. Without points the figure shows the text `empty`.
    """
    values = [point.value for line in lines for point in line.points if point.value is not None]
    layout = frame(title, HEIGHT_PX, {"type": "date"}, {"title": {"text": plotly_text(unit)}})
    if not values:
        return empty_figure(layout, empty)
    is_log = min(values) > 0 and spans_decades(values)
    layout["yaxis"] |= {"type": "log"} if is_log else {"range": value_range(values)}
    data = [_trace(line, is_named=len(lines) > 1) for line in lines]
    ends = (min(values), max(values)) if is_log else tuple(layout["yaxis"]["range"])
    if marks:
        data.insert(0, _marks_trace(marks, ends))
    if levels:
        data += [_levels_trace(levels), _labels_trace(levels, ends)]
    return {"data": data, "layout": layout}


def _marks_trace(marks: Sequence[HistoryMark], ends: Sequence[float]) -> dict[str, Any]:
    """Dotted lines from end to end of the axis; a triangle below each can be pointed at."""
    times = [_time(mark.at) for mark in marks]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [x for time in times for x in (time, time, None)],
        "y": [y for _mark in marks for y in (*ends, None)],
        "text": [text for mark in marks for text in (plotly_text(mark.text), plotly_text(mark.text), "")],
        "connectgaps": False,
        "line": {"color": INK_2, "width": 1, "dash": "dot"},
        "marker": {"color": INK_2, "size": [size for _mark in marks for size in (9, 0, 0)], "symbol": "triangle-up"},
        "meta": {"colours": "ink-2"},
        "hovertemplate": "%{x|%Y-%m-%d %H:%M}: %{text}<extra></extra>",
    }


def _levels_trace(levels: Sequence[HistoryLevel]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for level in levels for x in (_time(level.start), _time(level.end), None)],
        "y": [y for level in levels for y in (level.value, level.value, None)],
        "connectgaps": False,
        "line": {"color": INK, "width": 3},
        "meta": {"colours": "ink"},
        "hoverinfo": "skip",
    }


def _labels_trace(levels: Sequence[HistoryLevel], ends: Sequence[float]) -> dict[str, Any]:
    """The labels of levels where these begin, by turns on two lines below the upper end of the axis."""
    labelled = [level for level in levels if level.label]
    first, last = levels[0].start, levels[-1].end
    low, top = ends
    return {
        "type": "scatter",
        "mode": "text",
        "x": [_time(level.start) for level in labelled],
        "y": [top - (top - low) * _LABELS_APART * (at % 2) for at, _level in enumerate(labelled)],
        "text": [plotly_text(level.label) for level in labelled],
        "textposition": [
            "bottom left" if level.start - first > (last - first) * _LABEL_TURNS else "bottom right"
            for level in labelled
        ],
        "hoverinfo": "skip",
    }


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def value_range(values: Sequence[float]) -> list[float]:
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
        "x": [_time(point.at) for point in points],
        "y": [point.value for point in points],
        "text": [label if at == last else "" for at in range(len(points))],
        "textposition": "top left",
        "connectgaps": False,
        "line": {"color": line.hue.light, "width": 2},
        "marker": {"color": line.hue.light, "size": 6},
        "meta": {"colours": line.hue.css},
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
