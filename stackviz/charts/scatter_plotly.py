"""A scatter as a Plotly figure: the dots of charts/scatter.py, its front and its bounds. Pure data."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.charts.frame import INK_2, LIGHT, colour, colour_name, empty_figure, frame, plotly_text
from stackviz.charts.pareto import front_line
from stackviz.charts.scale import ScaleKind, scale_for
from stackviz.charts.scatter import SIZES, Dot, Iso, Ways, front_of, size_steps

PLOTLY_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
FIGURE_PX = 620
FEWEST_LOG_TICKS = 4


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
    layout = frame("", FIGURE_PX, plotly_axis(x, (dot.x for dot in dots)), plotly_axis(y, (dot.y for dot in dots)))
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


def plotly_axis(axis: AxisWords, values: Iterable[float]) -> dict[str, Any]:
    """Ticks are numbers in full, `2,000`; without a format Plotly writes `2` between the powers of ten, and `10k`."""
    kinds: dict[ScaleKind, dict[str, Any]] = {
        "log": {"type": "log", "tickformat": ",~r", "nticks": _log_ticks(values)},
        "linear": {"type": "linear", "tickformat": ","},
        "year": {"type": "linear"},
    }
    return {"title": {"text": plotly_text(axis.title)}, "zeroline": False, **kinds[axis.kind]}


def _log_ticks(values: Iterable[float]) -> int:
    """How many ticks Plotly may draw, so that it chooses powers of ten with or without 2 and 5.

    With more it writes all of 1 to 9, some of them lower; with fewer it leaves out powers.
    """
    scale = scale_for(values, "log")
    return max(FEWEST_LOG_TICKS, math.ceil(math.log10(scale.high / scale.low)) + 1)
