"""A scatter as a Plotly figure: the dots of charts/scatter.py, its front and its bounds. Pure data."""

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from stackviz.draw.charts.frame import (
    INK_2,
    MIDDLE_PX,
    NARROW_PX,
    empty_figure,
    frame,
    narrower,
    plotly_text,
)
from stackviz.draw.charts.labels import Label
from stackviz.draw.charts.scale import Scale, ScaleKind, scale_for
from stackviz.draw.charts.scatter import (
    MARGIN,
    MOST_DRAWN,
    SIZES,
    Dot,
    Iso,
    Ways,
    front_line,
    front_of,
    place_heights,
    place_scatter,
    size_steps,
)

PLOTLY_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
FIGURE_PX = 620
FEWEST_LOG_TICKS = 4
NO_NAME = {"text": ["", ""]}  # of a line from end to end
LEVEL_PX = 4  # how far the foot of a name lies below the middle of a dot beside it


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
    most: int = MOST_DRAWN,
) -> dict[str, Any]:
    """The same as a Plotly figure, with the same dots and names. `urls`: dot key -> address that a click opens."""
    layout = frame("", FIGURE_PX, plotly_axis(x, (dot.x for dot in dots)), plotly_axis(y, (dot.y for dot in dots)))
    layout["hovermode"] = "closest"
    if not dots:
        return empty_figure(layout, empty)
    xs, ys = scale_for([dot.x for dot in dots], x.kind, margin=MARGIN), place_heights(dots, y.kind, isos)
    layout["xaxis"]["range"], layout["yaxis"]["range"] = plotly_range(xs), plotly_range(ys)
    lines = [trace for iso in isos if (trace := _iso_trace(iso, xs, ys))]
    placed = place_scatter(dots, x.kind, y.kind, isos, ways, most=most)
    front, labels = _front_traces(dots, ways), placed.labels
    dots = [dot for dot in dots if dot.key in placed.drawn]
    data = [*lines, *front, _dots_trace(dots, urls, labels)]
    return {
        "data": data,
        "layout": layout,
        "narrower": [
            narrower(
                NARROW_PX,
                layout={"margin": {**layout["margin"], "r": 8}},
                data=_fewer_names(data, dots, labels, {""}) | dict.fromkeys(range(len(lines)), NO_NAME),
            ),
            narrower(MIDDLE_PX, data=_fewer_names(data, dots, labels, {"", "middle"})),
        ],
    }


def _fewer_names(
    data: Sequence[dict[str, Any]], dots: Sequence[Dot], labels: Sequence[Label], widths: Container[str]
) -> dict[int, dict[str, Any]]:
    """The names of the last trace, without those that have no room at these widths (`Label.only`)."""
    shown = {label.key for label in labels if label.only in widths}
    names = data[-1]["text"]
    return {len(data) - 1: {"text": [text if dot.key in shown else "" for dot, text in zip(dots, names, strict=True)]}}


def _dots_trace(dots: Sequence[Dot], urls: dict[int, str], labels: Sequence[Label]) -> dict[str, Any]:
    names = {label.key: label for label in labels}
    steps = size_steps([dot.size for dot in dots])
    shapes = ["circle" if dot.is_hollow else "square" for dot in dots]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [dot.x for dot in dots],
        "y": [dot.y for dot in dots],
        "text": [plotly_text(names[dot.key].text) if dot.key in names else "" for dot in dots],
        "textposition": [_side(names[dot.key]) if dot.key in names else "middle right" for dot in dots],
        "textfont": {"size": 11},
        "customdata": [[plotly_text(dot.label), plotly_text(dot.note), urls.get(dot.key, "")] for dot in dots],
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        "marker": {
            "color": [dot.hue.light for dot in dots],
            "size": [12 * SIZES[step] for step in steps],
            "symbol": [f"{shape}-open" if dot.is_hollow else shape for dot, shape in zip(dots, shapes, strict=True)],
            "line": {"width": [2.5 if dot.is_hollow else 0 for dot in dots]},
        },
        "meta": {"colours": [dot.hue.css for dot in dots]},
    }


def _front_traces(dots: Sequence[Dot], ways: Ways | None) -> list[dict[str, Any]]:
    pieces = front_line([(dot.x, dot.y) for dot in front_of(dots, ways)], more_x=bool(ways and ways.more_x))
    if not pieces:
        return []
    corners = [pieces[0][0], *(end for _start, end in pieces)]
    return [_line_trace([x for x, _y in corners], [y for _x, y in corners], "solid")]


def _side(label: Label) -> str:
    """Return where Plotly puts a name with this offset."""
    level = "top" if label.dy < 0 else "bottom" if label.dy > LEVEL_PX else "middle"
    return f"{level} {({'start': 'right', 'middle': 'center', 'end': 'left'})[label.anchor]}"


def _iso_trace(iso: Iso, xs: Scale, ys: Scale) -> dict[str, Any] | None:
    """The line from end to end of the drawing, with its name at the upper one; None where it does not cross it."""
    slope = iso.slope
    left, right = max(xs.low, ys.low / slope), min(xs.high, ys.high / slope)
    if left >= right:
        return None
    trace = _line_trace([left, right], [left * slope, right * slope], "dash" if iso.is_bound else "dot")
    if not iso.is_bound:
        trace |= {"line": {**trace["line"], "width": 1}, "opacity": 0.6}
    name = {"text": ["", plotly_text(iso.label)], "textposition": "bottom left", "textfont": {"size": 11}}
    return trace | {"mode": "lines+text", **name}


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
    title = f"{axis.title} ({gettext('logarithmic')})" if axis.kind == "log" else axis.title
    return {"title": {"text": plotly_text(title)}, "zeroline": False, **kinds[axis.kind]}


def plotly_range(scale: Scale) -> list[float]:
    """The ends of a scale as Plotly has them: exponents where it is logarithmic."""
    ends = scale.low, scale.high
    return [math.log10(end) for end in ends] if scale.kind == "log" else list(ends)


def _log_ticks(values: Iterable[float]) -> int:
    """How many ticks Plotly may draw, so that it chooses powers of ten with or without 2 and 5.

    With more it writes all of 1 to 9, some of them lower; with fewer it leaves out powers.
    """
    scale = scale_for(values, "log")
    return max(FEWEST_LOG_TICKS, math.ceil(math.log10(scale.high / scale.low)) + 1)
