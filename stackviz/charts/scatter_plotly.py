"""A scatter as a Plotly figure: the dots of charts/scatter.py, its front and its bounds. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.charts.frame import INK_2, LIGHT, colour, colour_name, empty_figure, frame, plotly_text
from stackviz.charts.pareto import front_line
from stackviz.charts.scale import ScaleKind
from stackviz.charts.scatter import SIZES, Dot, Iso, Ways, front_of, size_steps

PLOTLY_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
FIGURE_PX = 620


@dataclass(frozen=True, slots=True)
class AxisWords:
    title: str
    kind: ScaleKind


def scatter_figure(
    x: AxisWords,
    y: AxisWords,
    dots: Sequence[Dot],
    urls: dict[int, str],
    *,
    empty: str = "no figures",
    isos: Sequence[Iso] = (),
    ways: Ways | None = None,
) -> dict[str, Any]:
    """The same as a Plotly figure. `urls`: dot key -> address that a click opens. Of `isos`, bounds are drawn."""
    layout = frame("", FIGURE_PX, _plotly_axis(x), _plotly_axis(y))
    layout["hovermode"] = "closest"
    if not dots:
        return empty_figure(layout, empty)
    bounds = [_bound_trace(iso, dots) for iso in isos if iso.is_bound]
    return {"data": [*bounds, *_front_traces(dots, ways), _dots_trace(dots, urls)], "layout": layout}


def _dots_trace(dots: Sequence[Dot], urls: dict[int, str]) -> dict[str, Any]:
    steps = size_steps([dot.size for dot in dots])
    shapes = [PLOTLY_SHAPES[dot.slot % len(LIGHT)] for dot in dots]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [dot.x for dot in dots],
        "y": [dot.y for dot in dots],
        "customdata": [[plotly_text(dot.label), plotly_text(dot.note), urls.get(dot.key, "")] for dot in dots],
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        "marker": {
            "color": [colour(dot.slot) for dot in dots],
            "size": [12 * SIZES[step] for step in steps],
            "symbol": [f"{shape}-open" if dot.is_hollow else shape for dot, shape in zip(dots, shapes, strict=True)],
            "line": {"width": [2.5 if dot.is_hollow else 0 for dot in dots]},
        },
        "meta": {"colours": [colour_name(dot.slot) for dot in dots]},
    }


def _front_traces(dots: Sequence[Dot], ways: Ways | None) -> list[dict[str, Any]]:
    pieces = front_line([(dot.x, dot.y) for dot in front_of(dots, ways)], more_x=bool(ways and ways.more_x))
    if not pieces:
        return []
    corners = [pieces[0][0], *(end for _start, end in pieces)]
    return [_line_trace([x for x, _y in corners], [y for _x, y in corners], "solid")]


def _bound_trace(iso: Iso, dots: Sequence[Dot]) -> dict[str, Any]:
    """From the smallest to the largest of the values that the bound holds for."""
    slope = 1 / iso.ratio if iso.is_inverse else iso.ratio
    ends = [min(dot.x for dot in dots), max(dot.x for dot in dots)]
    return _line_trace(ends, [x * slope for x in ends], "dash")


def _line_trace(xs: list[float], ys: list[float], dash: str) -> dict[str, Any]:
    line = {"color": INK_2, "width": 1.5, "dash": dash}
    meta = {"colours": "ink-2"}
    return {"type": "scatter", "mode": "lines", "x": xs, "y": ys, "line": line, "hoverinfo": "skip", "meta": meta}


def _plotly_axis(axis: AxisWords) -> dict[str, Any]:
    return {
        "title": {"text": plotly_text(axis.title)},
        "type": "log" if axis.kind == "log" else "linear",
        "zeroline": False,
    }
