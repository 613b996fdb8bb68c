"""Lines and points on two scales: positions for SVG drawn on the server. Pure data.

`plane_figure` draws the same `PlaneLine` and `PlanePoint` with Plotly. Positions are per cent of the plot from
the upper left; a hollow point was measured by somebody else, a filled one here.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from stackviz.base.units import format_number
from stackviz.draw.charts.frame import INK, empty_figure, frame, plotly_text
from stackviz.draw.charts.labels import HEIGHT_PX, LETTER_PX, Label, NamedDot, place_labels
from stackviz.draw.charts.scale import Mark, Scale, ScaleKind, scale_for
from stackviz.draw.charts.scatter import RADIUS_PX, SHAPES
from stackviz.draw.charts.scatter_plotly import FIGURE_PX, PLOTLY_SHAPES, AxisWords, plotly_axis, plotly_range
from stackviz.draw.colours import Hue

MARGIN = 0.03
POINT_SCALE = 0.8  # of SHAPES
LABEL_ROW_PX = 15  # between two labels at the right end
LABEL_ROW = 100 * LABEL_ROW_PX / HEIGHT_PX  # the same in per cent of the usual height
LONGEST_NAME = 15  # letters that have room right of a drawing, on a phone too
STEP_LABEL = 60.0  # per cent of the width that the label of a step may take, on a phone
FLOOR = 100.0
NO_DASH = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneLine:
    """A line through `points`, in the units of the axes. `dash`: index into PLOTLY_DASHES.

    `label`: written at its right end, "" for none.
    """

    key: str
    hue: Hue
    points: tuple[tuple[float, float], ...]
    label: str = ""
    dash: int = NO_DASH


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanePoint:
    """A point. `shape`: index into scatter.SHAPES; `label`: next to it if there is room; `note`: for a hover.

    `url`: where the point leads.
    """

    key: int
    x: float
    y: float
    hue: Hue
    shape: int = 0
    is_filled: bool = False
    label: str = ""
    note: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class PlaneStep:
    """A level of the horizontal axis that is marked from bottom to top, such as the size of a cache."""

    x: float
    hue: Hue
    label: str


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """`corners`: (x, y) in per cent, to a hundredth."""

    corners: tuple[tuple[float, float], ...]
    hue: Hue
    dash: int

    @property
    def path(self) -> str:
        """`x,y x,y`, for a polyline."""
        return " ".join(f"{x:.2f},{y:.2f}" for x, y in self.corners)


@dataclass(frozen=True, slots=True)
class EndLabel:
    """The label of a line at its right end, in per cent from the upper left; labels never overlap."""

    text: str
    y: float
    hue: Hue
    x: float = 100.0


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    point: PlanePoint
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """`y`: of its label, in per cent from the top; labels of several steps form rows."""

    x: float
    y: float
    hue: Hue
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    lines: tuple[PlacedLine, ...] = ()
    ends: tuple[EndLabel, ...] = ()
    points: tuple[PlacedPoint, ...] = ()
    labels: tuple[Label, ...] = ()
    steps: tuple[PlacedStep, ...] = ()
    x_marks: tuple[Mark, ...] = ()
    y_marks: tuple[Mark, ...] = ()

    @property
    def shapes(self) -> list[tuple[int, str]]:
        """(index, path) of the shapes that the points have."""
        return [(shape, SHAPES[shape]) for shape in sorted({placed.point.shape for placed in self.points})]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneContent:
    """What is drawn, on scales of these kinds."""

    lines: tuple[PlaneLine, ...] = ()
    points: tuple[PlanePoint, ...] = ()
    steps: tuple[PlaneStep, ...] = ()
    x_kind: ScaleKind = "log"
    y_kind: ScaleKind = "log"

    @property
    def xs(self) -> list[float]:
        return [
            *(x for line in self.lines for x, _y in line.points),
            *(point.x for point in self.points),
            *(step.x for step in self.steps),
        ]

    @property
    def ys(self) -> list[float]:
        return [*(y for line in self.lines for _x, y in line.points), *(point.y for point in self.points)]


def place_plane(content: PlaneContent) -> Plane:
    """The position of every element. Values <= 0 on a logarithmic axis are at its low end."""
    return _placed(content, LABEL_ROW)


def place_small_plane(content: PlaneContent, height_px: int) -> Plane:
    """Place the same in a plot of this height, without labels at points: they have no room there."""
    points = tuple(replace(point, label="") for point in content.points)
    return _placed(replace(content, points=points), 100 * LABEL_ROW_PX / height_px)


def _placed(content: PlaneContent, label_row: float) -> Plane:
    if not content.xs:
        return Plane()
    xs = scale_for(content.xs, content.x_kind)
    ys = scale_for(content.ys, content.y_kind, margin=MARGIN)
    ends = tuple(
        replace(end, x=xs.position(line.points[-1][0])) for line, end in end_labels(content.lines, ys, label_row)
    )
    return Plane(
        lines=tuple(_placed_line(line, xs, ys) for line in content.lines),
        ends=ends,
        points=tuple(
            PlacedPoint(point, xs.position(point.x), ys.position_from_top(point.y)) for point in content.points
        ),
        labels=tuple(_labels(content.points, ends, xs, ys)),
        steps=place_steps(content, xs, ys, label_row),
        x_marks=tuple(Mark(xs.position(tick), format_number(tick)) for tick in xs.ticks()),
        y_marks=tuple(Mark(ys.position_from_top(tick), format_number(tick)) for tick in ys.ticks()),
    )


def _placed_line(line: PlaneLine, xs: Scale, ys: Scale) -> PlacedLine:
    corners = tuple((round(xs.percent(x), 2), round(100 - ys.percent(y), 2)) for x, y in line.points)
    return PlacedLine(corners, line.hue, line.dash)


def end_labels(lines: Sequence[PlaneLine], ys: Scale, label_row: float = LABEL_ROW) -> list[tuple[PlaneLine, EndLabel]]:
    """Each above the right end of its line, moved up where it would overlap the one below it; the highest first.

    Where they would leave the drawing at the top all move down; those without room at the bottom are left out.
    """
    named = sorted(
        ((100 - ys.percent(line.points[-1][1]), line) for line in lines if line.label), key=lambda item: item[0]
    )
    heights = [y for y, _line in named]
    for index in range(len(heights) - 2, -1, -1):
        heights[index] = min(heights[index], heights[index + 1] - label_row)
    free = min(label_row, named[0][0]) if named else 0.0
    ends = []
    for height, (_y, line) in zip(heights, named, strict=True):
        y = max(height, free)
        free = y + label_row
        if y <= FLOOR:
            ends.append((line, EndLabel(line.label, round(y, 1), line.hue)))
    return ends


def place_steps(content: PlaneContent, xs: Scale, ys: Scale, label_row: float = LABEL_ROW) -> tuple[PlacedStep, ...]:
    """Place the labels of the steps in rows, in the highest gap between lines that holds them all."""
    if not content.steps:
        return ()
    left = min(xs.percent(step.x) for step in content.steps)
    taken = sorted(_heights_between(content, xs, ys, left, left + STEP_LABEL))
    block = label_row * len(content.steps)
    gaps = [(low, high) for low, high in pairwise([0.0, *taken, 100.0]) if high - low >= block]
    low, high = min(gaps, default=(0.0, block))
    top = low + max(0.0, min(label_row, (high - low - block) / 2)) if low else 0.0
    return tuple(
        PlacedStep(xs.position(step.x), round(top + row * label_row, 1), step.hue, step.label)
        for row, step in enumerate(content.steps)
    )


def _heights_between(content: PlaneContent, xs: Scale, ys: Scale, left: float, right: float) -> Iterator[float]:
    """Where lines pass between these two places, in per cent from the top: their points, and both ends of the strip."""
    for line in content.lines:
        places = [(xs.percent(x), 100 - ys.percent(y)) for x, y in line.points]
        yield from (y for x, y in places if left <= x <= right)
        for (x1, y1), (x2, y2) in pairwise(places):
            yield from (y1 + (y2 - y1) * (at - x1) / (x2 - x1) for at in (left, right) if x1 < at < x2)


def fitting_name(name: str) -> str:
    """Shorten a name to the room next to a drawing: without its brackets, then whole words and `…`."""
    short = re.sub(r"\s*\(.*\)", "", name) or name
    if len(short) <= LONGEST_NAME:
        return short
    words = short[:LONGEST_NAME].rsplit(" ", 1)[0]
    return f"{words[: LONGEST_NAME - 1]}…"


def _labels(points: Sequence[PlanePoint], ends: Sequence[EndLabel], xs: Scale, ys: Scale) -> list[Label]:
    named = [
        NamedDot(
            key=point.key,
            text=point.label,
            x=xs.percent(point.x),
            y=100 - ys.percent(point.y),
            radius_px=RADIUS_PX * POINT_SCALE,
        )
        for point in points
    ]
    occupied = [(end.text, 100.0, end.y - LABEL_ROW) for end in ends]
    return [label for label in place_labels(named, occupied) if label.text]


# --- the same with Plotly ---

FRAME_TOP_PX = 32  # the plot is as high as the other drawing
PLOTLY_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def plane_figure(
    content: PlaneContent,
    x: AxisWords,
    y: AxisWords,
    empty: str,
    *,
    has_names_outside: bool = False,
) -> dict[str, Any]:
    """The same as a Plotly figure; a click opens the address of a point.

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
    return {"data": [*(_plotly_line(line) for line in content.lines), *_plotly_points(content)], "layout": layout}


def _position(value: float, kind: ScaleKind) -> float:
    """Where Plotly puts annotations and ends: by exponent on a logarithmic axis."""
    return math.log10(value) if kind == "log" else value


def _plotly_name(
    line: PlaneLine, end: EndLabel, ys: Scale, x: AxisWords, y: AxisWords, *, is_outside: bool
) -> dict[str, Any]:
    """The name of a line at its end, which it follows when the reader zooms; moved up as in the other drawing."""
    last_x, last_y = line.points[-1]
    up_px = round((100 - ys.percent(last_y) - end.y) / 100 * HEIGHT_PX)
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
        "line": {"color": line.hue.light, "width": 2, "dash": PLOTLY_DASHES[line.dash % len(PLOTLY_DASHES)]},
        "hovertemplate": f"<b>{plotly_text(line.label or line.key)}</b><br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
        "meta": {"colours": line.hue.css},
    }


def _plotly_points(content: PlaneContent) -> list[dict[str, Any]]:
    points = content.points
    if not points:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [point.x for point in points],
            "y": [point.y for point in points],
            "customdata": [[plotly_text(point.label), plotly_text(point.note), point.url] for point in points],
            "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
            "cliponaxis": False,
            "marker": {
                "color": [point.hue.light for point in points],
                "size": 10,
                "symbol": [_symbol(point) for point in points],
                "line": {"width": [0 if point.is_filled else 2 for point in points]},
            },
            "meta": {"colours": [point.hue.css for point in points]},
        }
    ]


def _symbol(point: PlanePoint) -> str:
    shape = PLOTLY_SHAPES[point.shape % len(PLOTLY_SHAPES)]
    return shape if point.is_filled else f"{shape}-open"


def _plotly_step(step: PlaneStep) -> dict[str, Any]:
    line = {"color": step.hue.light, "width": 1, "dash": "dot"}
    ends = {"x0": step.x, "x1": step.x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line, "colours": step.hue.css}


def _plotly_step_label(step: PlaneStep, placed: PlacedStep, kind: ScaleKind) -> dict[str, Any]:
    """Beside its line, in the row of the other drawing."""
    return {
        "x": _position(step.x, kind),
        "y": round(1 - placed.y / 100, 4),
        "yref": "paper",
        "text": plotly_text(step.label),
        "font": {"size": 11, "color": INK},
        "showarrow": False,
        "borderpad": 0,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": 3,
    }
