"""Lines and points on two scales as a Plotly figure: those of charts/plane.py, at the same places. Pure data."""

import math
from typing import Any

from stackviz.draw.charts.frame import INK, colour, colour_name, empty_figure, frame, plotly_text
from stackviz.draw.charts.labels import HEIGHT_PX, LETTER_PX
from stackviz.draw.charts.plane import (
    MARGIN,
    EndLabel,
    PlacedStep,
    PlaneContent,
    PlaneLine,
    PlanePoint,
    PlaneStep,
    end_labels,
    place_steps,
)
from stackviz.draw.charts.scale import Scale, ScaleKind, scale_for
from stackviz.draw.charts.scatter_plotly import FIGURE_PX, PLOTLY_SHAPES, AxisWords, plotly_axis, plotly_range

FRAME_TOP_PX = 32  # the plot is as high as the other drawing
PLOTLY_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def plane_figure(
    content: PlaneContent,
    x: AxisWords,
    y: AxisWords,
    urls: dict[int, str],
    empty: str,
    *,
    has_names_outside: bool = False,
) -> dict[str, Any]:
    """The same as a Plotly figure. `urls`: point key -> address that a click opens.

    `has_names_outside`: names of lines stand right of the drawing, not above their ends.
    """
    layout = frame("", FIGURE_PX, plotly_axis(x, content.xs), plotly_axis(y, content.ys))
    layout["hovermode"] = "closest"
    if not content.lines and not content.points:
        return empty_figure(layout, empty)
    xs = scale_for(content.xs, content.x_kind, margin=MARGIN)
    ys = scale_for(content.ys, content.y_kind, margin=MARGIN)
    layout["xaxis"]["range"], layout["yaxis"]["range"] = plotly_range(xs), plotly_range(ys)
    longest = max((len(line.label) for line in content.lines), default=0) if has_names_outside else 0
    layout["margin"] |= {
        "t": FRAME_TOP_PX,
        "b": FIGURE_PX - HEIGHT_PX - FRAME_TOP_PX,
        "r": 16 + round(longest * LETTER_PX),
    }
    layout["shapes"] = [_plotly_step(step) for step in content.steps]
    names = [
        _plotly_name(line, end, ys, x, y, is_outside=has_names_outside) for line, end in end_labels(content.lines, ys)
    ]
    steps = zip(content.steps, place_steps(content, xs, ys), strict=True)
    layout["annotations"] = [*(_plotly_step_label(step, placed, x.kind) for step, placed in steps), *names]
    return {"data": [*(_plotly_line(line) for line in content.lines), *_plotly_points(content, urls)], "layout": layout}


def _position(value: float, kind: ScaleKind) -> float:
    """Where Plotly puts annotations and ends: by exponent on a logarithmic axis."""
    return math.log10(value) if kind == "log" else value


def _plotly_name(
    line: PlaneLine, end: EndLabel, ys: Scale, x: AxisWords, y: AxisWords, *, is_outside: bool
) -> dict[str, Any]:
    """The name of a line at its end, which it follows when the reader zooms; moved up as in the other drawing."""
    last_x, last_y = line.points[-1]
    up_px = round((100 - ys.percent(last_y) - float(end.y)) / 100 * HEIGHT_PX)
    beside = {"xanchor": "left", "yanchor": "middle", "xshift": 8, "yshift": up_px}
    above = {"xanchor": "right", "yanchor": "bottom", "xshift": -4, "yshift": up_px + 1}
    return {
        "x": _position(last_x, x.kind),
        "y": _position(last_y, y.kind),
        "text": f"<b>{plotly_text(line.label)}</b>",
        "font": {"size": 11, "color": INK},
        "showarrow": False,
        "borderpad": 0,
        **(beside if is_outside else above),
    }


def _plotly_line(line: PlaneLine) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plotly_text(line.key),
        "x": [x for x, _y in line.points],
        "y": [y for _x, y in line.points],
        "line": {"color": colour(line.slot), "width": 2, "dash": PLOTLY_DASHES[line.dash % len(PLOTLY_DASHES)]},
        "hovertemplate": f"<b>{plotly_text(line.label or line.key)}</b><br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
        "meta": {"colours": colour_name(line.slot)},
    }


def _plotly_points(content: PlaneContent, urls: dict[int, str]) -> list[dict[str, Any]]:
    points = content.points
    if not points:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [point.x for point in points],
            "y": [point.y for point in points],
            "customdata": [
                [plotly_text(point.label), plotly_text(point.note), urls.get(point.key, "")] for point in points
            ],
            "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
            "cliponaxis": False,
            "marker": {
                "color": [colour(point.slot) for point in points],
                "size": 10,
                "symbol": [_symbol(point) for point in points],
                "line": {"width": [0 if point.is_filled else 2 for point in points]},
            },
            "meta": {"colours": [colour_name(point.slot) for point in points]},
        }
    ]


def _symbol(point: PlanePoint) -> str:
    shape = PLOTLY_SHAPES[point.shape % len(PLOTLY_SHAPES)]
    return shape if point.is_filled else f"{shape}-open"


def _plotly_step(step: PlaneStep) -> dict[str, Any]:
    line = {"color": colour(step.slot), "width": 1, "dash": "dot"}
    ends = {"x0": step.x, "x1": step.x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line, "colours": colour_name(step.slot)}


def _plotly_step_label(step: PlaneStep, placed: PlacedStep, kind: ScaleKind) -> dict[str, Any]:
    """Beside its line, in the row of the other drawing."""
    return {
        "x": _position(step.x, kind),
        "y": round(1 - float(placed.y) / 100, 4),
        "yref": "paper",
        "text": plotly_text(step.label),
        "font": {"size": 11, "color": INK},
        "showarrow": False,
        "borderpad": 0,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": 3,
    }
