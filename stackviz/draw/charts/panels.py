"""Small multiples: a panel for each kind of thing, a line for each subject, all on the same two scales. Pure data.

Drawn on the server as SVG from `place_panels`; `panels_figure` is the same with Plotly. Positions are per cent of a
panel from its upper left.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.base.light import light_dataclass
from stackviz.base.units import format_number
from stackviz.draw.charts.frame import NARROW_PX, frame, narrower, plotly_text
from stackviz.draw.charts.plane import LABEL_ROW_PX, PLOTLY_DASHES, PlaneLine, end_labels
from stackviz.draw.charts.scale import Mark, Scale, ScaleKind, scale_for, spans_decades
from stackviz.draw.colours import Hue

PANEL_PX = 120  # how high the plot of a panel is
LOG_RATIO = 20  # values with a larger ratio get a logarithmic axis
MARGIN = 0.06
X_APART, Y_APART = 30.0, 22.0  # per cent between two ticks
LETTER = 4.0  # per cent that a letter below the axis takes at most
SHORTEST_STROKE = 100 / PANEL_PX  # per cent: an interval of less than a pixel is not drawn
LONGEST_NAME = 14  # letters beside a panel
PLOTLY_ROW_PX, PLOTLY_FRAME_PX, PLOTLY_COLUMNS = 240, 80, 3
ACROSS, DOWN_PX = 0.08, 56  # between panels: a share of the width; pixels, for the marks of one and the next title
ABOVE = 0.08  # of the vertical axis, free for the name of the highest line


@light_dataclass(slots=True)
class PanelPoint:
    """`x` above zero; `low` .. `high`: interval of `y`, None where it is not known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PanelLine:
    """A subject's points from left to right."""

    name: str
    hue: Hue
    points: tuple[PanelPoint, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """`unit`: of its values, which all panels draw on the same numbers."""

    title: str
    unit: str
    lines: tuple[PanelLine, ...]


@dataclass(frozen=True, slots=True)
class PlacedPanelLine:
    """Three paths: through the points, upright strokes for the intervals that can be seen, and a dot at each point."""

    hue: Hue
    path: str
    whiskers: str
    dots: str


@dataclass(frozen=True, slots=True)
class PanelName:
    """The name of a line right of the panel, level with its end or moved so that none overlaps another."""

    text: str
    full: str
    y: float
    hue: Hue


@dataclass(frozen=True, slots=True)
class PlacedPanel:
    title: str
    unit: str
    lines: tuple[PlacedPanelLine, ...]
    names: tuple[PanelName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPanels:
    """Panels with the marks of the scales they share. `is_log`: of the vertical one; the other always is."""

    panels: tuple[PlacedPanel, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    is_log: bool


def place_panels(panels: Sequence[Panel], x_names: Mapping[float, str]) -> PlacedPanels:
    """`panels`: at least one point among them. `x_names`: what the values of the horizontal axis are called."""
    xs, ys = _scales(panels)
    return PlacedPanels(
        panels=tuple(_placed(panel, xs, ys) for panel in panels),
        x_marks=tuple(Mark(_percent(xs.percent(x)), x_names[x]) for x in _apart(x_names, xs)),
        y_marks=tuple(Mark(_percent(100 - ys.percent(tick)), format_number(tick)) for tick in ys.ticks(Y_APART)),
        is_log=ys.kind == "log",
    )


def _scales(panels: Sequence[Panel]) -> tuple[Scale, Scale]:
    points = [point for panel in panels for line in panel.lines for point in line.points]
    values = [point.y for point in points]
    kind: ScaleKind = "log" if spans_decades(values, LOG_RATIO) else "linear"
    return scale_for([point.x for point in points], "log"), scale_for(values, kind, margin=MARGIN)


def _apart(names: Mapping[float, str], scale: Scale) -> list[float]:
    """The values whose names have room beside each other: both ends first, then the larger ones."""
    values = sorted(names)
    chosen: dict[float, float] = {}
    for value in [values[-1], values[0], *reversed(values)] if values else []:
        position, letters = scale.percent(value), len(names[value])
        if all(
            abs(position - other) >= max(X_APART, (letters + len(names[at])) / 2 * LETTER)
            for at, other in chosen.items()
        ):
            chosen[value] = position
    return list(chosen)


def _placed(panel: Panel, xs: Scale, ys: Scale) -> PlacedPanel:
    lines = [line for line in panel.lines if line.points]
    ends = end_labels(_ends_of(panel), ys, 100 * LABEL_ROW_PX / PANEL_PX)
    return PlacedPanel(
        title=panel.title,
        unit=panel.unit,
        lines=tuple(_placed_line(line, xs, ys) for line in lines),
        names=tuple(PanelName(_short(line.label), line.label, end.y, end.hue) for line, end in ends),
    )


def _ends_of(panel: Panel) -> list[PlaneLine]:
    return [
        PlaneLine(
            key=line.name, hue=line.hue, label=line.name, points=tuple((point.x, point.y) for point in line.points)
        )
        for line in panel.lines
        if line.points
    ]


def _placed_line(line: PanelLine, xs: Scale, ys: Scale) -> PlacedPanelLine:
    places = [(_percent(xs.percent(point.x)), _percent(100 - ys.percent(point.y))) for point in line.points]
    intervals = (
        (x, 100 - ys.percent(point.low), 100 - ys.percent(point.high))
        for (x, _y), point in zip(places, line.points, strict=True)
        if point.low is not None and point.high is not None
    )
    whiskers = (f"M{x} {_percent(low)}V{_percent(high)}" for x, low, high in intervals if low - high >= SHORTEST_STROKE)
    path = "M" + "L".join(f"{x} {y}" for x, y in places) if len(places) > 1 else ""
    dots = "".join(f"M{x} {y}h0" for x, y in places)
    return PlacedPanelLine(line.hue, path, "".join(whiskers), dots)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _percent(value: float) -> float:
    """To a tenth; whole numbers without a decimal, as a path has thousands of them."""
    tenth = round(value, 1)
    return int(tenth) if tenth.is_integer() else tenth


# --- the same with Plotly ---


def figure_height(count: int, columns: int = PLOTLY_COLUMNS) -> int:
    """Pixels that the Plotly figure of so many panels takes."""
    return PLOTLY_FRAME_PX + PLOTLY_ROW_PX * -(-count // columns)


def panels_figure(title: str, panels: Sequence[Panel], x_names: Mapping[float, str]) -> dict[str, Any]:
    """A Plotly figure as JSON-ready data: the same panels, side by side or on a phone stacked, with the same scales."""
    data = [
        _trace(line, panel, _number(index), x_names)
        for index, panel in enumerate(panels)
        for line in panel.lines
        if line.points
    ]
    return {
        "data": data,
        "layout": _layout(title, panels, x_names, min(len(panels), PLOTLY_COLUMNS)),
        "narrower": [narrower(NARROW_PX, layout=_layout(title, panels, x_names, 1))],
    }


def _number(index: int) -> str:
    """Of its axes, as Plotly counts them."""
    return str(index + 1) if index else ""


def _layout(title: str, panels: Sequence[Panel], x_names: Mapping[float, str], columns: int) -> dict[str, Any]:
    xs, ys = _scales(panels)
    height = figure_height(len(panels), columns)
    layout = frame(title, height, {}, {})
    layout["margin"] |= {"l": 48, "r": 24}
    layout["annotations"] = []
    layout["hovermode"] = "closest"
    marked = sorted(_apart(x_names, xs))
    x_axis = {**layout["xaxis"], "type": "log", "tickangle": 0} | _ticks(marked, [x_names[x] for x in marked])
    heights = ys.ticks(Y_APART)
    y_axis = {**layout["yaxis"], "type": ys.kind, "range": _range(ys), "automargin": False}
    y_axis |= _ticks(heights, [format_number(tick) for tick in heights])
    rows, gap = -(-len(panels) // columns), DOWN_PX / (height - PLOTLY_FRAME_PX)
    for index, panel in enumerate(panels):
        row, column = divmod(index, columns)
        number = _number(index)
        across, down = _domain(column, columns, ACROSS), _domain(rows - 1 - row, rows, gap)
        layout[f"xaxis{number}"] = x_axis | {"domain": across, "anchor": f"y{number}"} | _matched("x", index)
        layout[f"yaxis{number}"] = y_axis | {"domain": down, "anchor": f"x{number}"} | _matched("y", index)
        layout["annotations"].append(
            {
                "text": f"<b>{plotly_text(panel.title)}</b> {plotly_text(panel.unit)}", "showarrow": False,
                "xref": "paper", "yref": "paper", "x": across[0], "y": down[1], "xanchor": "left", "yanchor": "bottom",
            }
        )  # fmt: skip
        layout["annotations"] += _plotly_names(panel, number, ys)
    return layout


def _ticks(values: Sequence[float], names: Sequence[str]) -> dict[str, Any]:
    return {"tickmode": "array", "tickvals": list(values), "ticktext": [plotly_text(name) for name in names]}


def _plotly_names(panel: Panel, number: str, ys: Scale) -> list[dict[str, Any]]:
    """The names of lines above their right ends, moved up where they would overlap."""
    row = 100 * LABEL_ROW_PX / (PLOTLY_ROW_PX - DOWN_PX)
    names = []
    for line, end in end_labels(_ends_of(panel), ys, row):
        x, y = line.points[-1]
        up = (100 - ys.percent(y) - float(end.y)) / 100 * (PLOTLY_ROW_PX - DOWN_PX) / (1 + ABOVE)
        names.append(
            {
                "xref": f"x{number}", "yref": f"y{number}", "x": math.log10(x),
                "y": math.log10(y) if ys.kind == "log" else y, "text": plotly_text(line.label), "font": {"size": 11},
                "showarrow": False, "borderpad": 0, "xanchor": "right", "yanchor": "bottom", "yshift": round(up) + 3,
            }
        )  # fmt: skip
    return names


def _matched(axis: str, index: int) -> dict[str, str]:
    """All panels move as the first one does when the reader zooms."""
    return {"matches": axis} if index else {}


def _range(ys: Scale) -> list[float]:
    """The ends of the vertical axis of all panels, as exponents where it is logarithmic."""
    low, high = (math.log10(ys.low), math.log10(ys.high)) if ys.kind == "log" else (ys.low, ys.high)
    return [low, high + ABOVE * (high - low)]


def _domain(index: int, count: int, gap: float) -> list[float]:
    """From where to where a row or column of panels goes, as shares of the figure."""
    size = (1 - gap * (count - 1)) / count
    start = index * (size + gap)
    return [round(start, 4), round(start + size, 4)]


def _trace(line: PanelLine, panel: Panel, number: str, x_names: Mapping[float, str]) -> dict[str, Any]:
    name = plotly_text(line.name)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [point.x for point in line.points],
        "y": [point.y for point in line.points],
        "customdata": [plotly_text(x_names.get(point.x, "")) for point in line.points],
        "hovertemplate": f"%{{customdata}}: %{{y:.4g}} {plotly_text(panel.unit)}<extra>{name}</extra>",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "line": {"color": line.hue.light, "width": 2, "dash": PLOTLY_DASHES[line.hue.step]},
        "marker": {"color": line.hue.light, "size": 7},
        "meta": {"colours": line.hue.css},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [0 if point.high is None else max(point.high - point.y, 0) for point in line.points],
            "arrayminus": [0 if point.low is None else max(point.y - point.low, 0) for point in line.points],
            "thickness": 1.5,
            "width": 4,
        },
        "cliponaxis": False,
    }
