"""Small multiples: a panel for each kind of thing, a line for each subject, all on the same two scales. Pure data.

Drawn on the server as SVG from `place_panels`; `panels_figure` is the same with Plotly. Positions are per cent of a
panel from its upper left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.charts.frame import colour, colour_name, frame, plotly_text
from stackviz.charts.plane import LABEL_ROW_PX, PlaneLine, end_labels
from stackviz.charts.scale import Scale, ScaleKind, scale_for, spans_decades
from stackviz.charts.scatter import Mark
from stackviz.light import light_dataclass
from stackviz.units import format_number

PANEL_PX = 120  # how high the plot of a panel is
LOG_RATIO = 20  # values with a larger ratio get a logarithmic axis
MARGIN = 0.06
X_APART, Y_APART = 30.0, 22.0  # per cent between two ticks
LONGEST_NAME = 14  # letters beside a panel
PLOTLY_ROW_PX, PLOTLY_FRAME_PX, PLOTLY_COLUMNS, GAP = 240, 72, 3, 0.07


@light_dataclass(slots=True)
class PanelPoint:
    """`x` above zero; `low` .. `high`: interval of `y`, None where it is not known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PanelLine:
    """A subject's points from left to right. `slot`, from 0, decides the colour."""

    name: str
    slot: int
    points: tuple[PanelPoint, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """`unit`: of its values, which all panels draw on the same numbers."""

    title: str
    unit: str
    lines: tuple[PanelLine, ...]


@dataclass(frozen=True, slots=True)
class PlacedPanelLine:
    """Three paths: through the points, upright strokes for the intervals, and a stroke of no length at each point."""

    slot: int
    path: str
    whiskers: str
    dots: str


@dataclass(frozen=True, slots=True)
class PanelName:
    """The name of a line right of the panel, level with its end or moved so that none overlaps another."""

    text: str
    full: str
    y: str
    slot: int


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
        x_marks=tuple(Mark(_percent(xs.percent(x)), x_names[x]) for x in _apart(sorted(x_names), xs)),
        y_marks=tuple(Mark(_percent(100 - ys.percent(tick)), format_number(tick)) for tick in ys.ticks(Y_APART)),
        is_log=ys.kind == "log",
    )


def _scales(panels: Sequence[Panel]) -> tuple[Scale, Scale]:
    points = [point for panel in panels for line in panel.lines for point in line.points]
    values = [point.y for point in points]
    kind: ScaleKind = "log" if spans_decades(values, LOG_RATIO) else "linear"
    return scale_for([point.x for point in points], "log"), scale_for(values, kind, margin=MARGIN)


def _apart(values: Sequence[float], scale: Scale) -> list[float]:
    """Those of the values that have room for their names: both ends first, then the larger ones."""
    chosen: dict[float, float] = {}
    for value in [values[-1], values[0], *reversed(values)] if values else []:
        position = scale.percent(value)
        if all(abs(position - other) >= X_APART for other in chosen.values()):
            chosen[value] = position
    return list(chosen)


def _placed(panel: Panel, xs: Scale, ys: Scale) -> PlacedPanel:
    lines = [line for line in panel.lines if line.points]
    named = [
        PlaneLine(
            key=line.name, slot=line.slot, label=line.name, points=tuple((point.x, point.y) for point in line.points)
        )
        for line in lines
    ]
    ends = end_labels(named, ys, 100 * LABEL_ROW_PX / PANEL_PX)
    return PlacedPanel(
        title=panel.title,
        unit=panel.unit,
        lines=tuple(_placed_line(line, xs, ys) for line in lines),
        names=tuple(PanelName(_short(line.label), line.label, end.y, end.slot) for line, end in ends),
    )


def _placed_line(line: PanelLine, xs: Scale, ys: Scale) -> PlacedPanelLine:
    places = [(_percent(xs.percent(point.x)), _percent(100 - ys.percent(point.y))) for point in line.points]
    whiskers = (
        f"M{x} {_percent(100 - ys.percent(point.low))}V{_percent(100 - ys.percent(point.high))}"
        for (x, _y), point in zip(places, line.points, strict=True)
        if point.low is not None and point.high is not None
    )
    path = "M" + "L".join(f"{x} {y}" for x, y in places) if len(places) > 1 else ""
    dots = "".join(f"M{x} {y}h0" for x, y in places)
    return PlacedPanelLine(line.slot, path, "".join(whiskers), dots)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _percent(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# --- the same with Plotly ---


def figure_height(count: int) -> int:
    """Pixels that the Plotly figure of so many panels takes."""
    return PLOTLY_FRAME_PX + PLOTLY_ROW_PX * -(-count // PLOTLY_COLUMNS)


def panels_figure(title: str, panels: Sequence[Panel], x_names: Mapping[float, str]) -> dict[str, Any]:
    """A Plotly figure as JSON-ready data: the same panels, side by side, with the same scales."""
    _xs, ys = _scales(panels)
    layout = frame(title, figure_height(len(panels)), {}, {})
    layout["margin"] |= {"l": 48, "r": 24}
    layout["annotations"] = []
    data: list[dict[str, Any]] = []
    base_x, base_y = layout["xaxis"], layout["yaxis"]
    vertical: dict[str, Any] = {"type": "log"} if ys.kind == "log" else {"range": [0, ys.high]}
    rows, columns = -(-len(panels) // PLOTLY_COLUMNS), min(len(panels), PLOTLY_COLUMNS)
    ticks = {"tickmode": "array", "tickvals": list(x_names), "ticktext": [plotly_text(x_names[x]) for x in x_names]}
    for index, panel in enumerate(panels):
        row, column = divmod(index, PLOTLY_COLUMNS)
        number = str(index + 1) if index else ""
        across, down = _domain(column, columns), _domain(rows - 1 - row, rows)
        x_axis = {**base_x, "type": "log", "domain": across, "anchor": f"y{number}"} | ticks
        y_axis = {**base_y, "domain": down, "anchor": f"x{number}", "automargin": False}
        layout[f"xaxis{number}"] = x_axis | ({"matches": "x"} if index else {})
        layout[f"yaxis{number}"] = y_axis | ({"matches": "y"} if index else vertical)
        layout["annotations"].append(
            {
                "text": f"<b>{plotly_text(panel.title)}</b> {plotly_text(panel.unit)}", "showarrow": False,
                "xref": "paper", "yref": "paper", "x": across[0], "y": down[1], "xanchor": "left", "yanchor": "bottom",
            }
        )  # fmt: skip
        data += [_trace(line, panel, number, x_names) for line in panel.lines if line.points]
    layout["hovermode"] = "closest"
    return {"data": data, "layout": layout}


def _domain(index: int, count: int) -> list[float]:
    """From where to where a row or column of panels goes, as shares of the figure."""
    size = (1 - GAP * (count - 1)) / count
    start = index * (size + GAP)
    return [round(start, 4), round(start + size, 4)]


def _trace(line: PanelLine, panel: Panel, number: str, x_names: Mapping[float, str]) -> dict[str, Any]:
    name = plotly_text(line.name)
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "name": name,
        "x": [point.x for point in line.points],
        "y": [point.y for point in line.points],
        "text": [name if at == len(line.points) - 1 else "" for at in range(len(line.points))],
        "textposition": "top left",
        "customdata": [plotly_text(x_names.get(point.x, "")) for point in line.points],
        "hovertemplate": f"%{{customdata}}: %{{y:.4g}} {plotly_text(panel.unit)}<extra>{name}</extra>",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "line": {"color": colour(line.slot), "width": 2},
        "marker": {"color": colour(line.slot), "size": 7},
        "meta": {"colours": colour_name(line.slot)},
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
