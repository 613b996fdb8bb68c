"""Lines and points on two scales: positions for SVG drawn on the server. Pure data.

charts/plane_plotly.py draws the same `PlaneLine` and `PlanePoint` with Plotly. Positions are per cent of the plot from
the upper left; a hollow point was measured by somebody else, a filled one here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from stackviz.base.units import format_number
from stackviz.draw.charts.labels import HEIGHT_PX, Label, NamedDot, place_labels
from stackviz.draw.charts.scale import Scale, ScaleKind, scale_for
from stackviz.draw.charts.scatter import RADIUS_PX, Mark

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
    """A line through `points`, in the units of the axes. `slot`: colour; `dash`: index into plane_plotly.PLOTLY_DASHES.

    `label`: written at its right end, "" for none.
    """

    key: str
    slot: int
    points: tuple[tuple[float, float], ...]
    label: str = ""
    dash: int = NO_DASH


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanePoint:
    """A point. `shape`: index into scatter.SHAPES; `label`: beside it where there is room; `note`: for a hover."""

    key: int
    x: float
    y: float
    slot: int
    shape: int = 0
    is_filled: bool = False
    label: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PlaneStep:
    """A level of the horizontal axis that is marked from bottom to top, such as the size of a cache."""

    x: float
    slot: int
    label: str


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """`path`: `x,y x,y` in per cent, for a polyline."""

    path: str
    slot: int
    dash: int


@dataclass(frozen=True, slots=True)
class EndLabel:
    """The label of a line at its right end, in per cent from the upper left; labels never overlap."""

    text: str
    y: str
    slot: int
    x: str = "100.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPoint:
    key: int
    x: str
    y: str
    slot: int
    shape: int
    is_filled: bool


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """`y`: of its label, in per cent from the top; labels of several steps stand in rows."""

    x: str
    y: str
    slot: int
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
    """The same in a plot of this height, without labels beside points: they have no room there."""
    points = tuple(replace(point, label="") for point in content.points)
    return _placed(replace(content, points=points), 100 * LABEL_ROW_PX / height_px)


def _placed(content: PlaneContent, label_row: float) -> Plane:
    if not content.xs:
        return Plane()
    xs = scale_for(content.xs, content.x_kind)
    ys = scale_for(content.ys, content.y_kind, margin=MARGIN)
    ends = tuple(
        replace(end, x=_percent(xs.percent(line.points[-1][0])))
        for line, end in end_labels(content.lines, ys, label_row)
    )
    return Plane(
        lines=tuple(_placed_line(line, xs, ys) for line in content.lines),
        ends=ends,
        points=tuple(_placed_point(point, xs, ys) for point in content.points),
        labels=tuple(_labels(content.points, ends, xs, ys)),
        steps=place_steps(content, xs, ys, label_row),
        x_marks=tuple(Mark(_percent(xs.percent(tick)), format_number(tick)) for tick in xs.ticks()),
        y_marks=tuple(Mark(_percent(100 - ys.percent(tick)), format_number(tick)) for tick in ys.ticks()),
    )


def _placed_line(line: PlaneLine, xs: Scale, ys: Scale) -> PlacedLine:
    path = " ".join(f"{xs.percent(x):.2f},{100 - ys.percent(y):.2f}" for x, y in line.points)
    return PlacedLine(path, line.slot, line.dash)


def _placed_point(point: PlanePoint, xs: Scale, ys: Scale) -> PlacedPoint:
    x, y = _percent(xs.percent(point.x)), _percent(100 - ys.percent(point.y))
    return PlacedPoint(key=point.key, x=x, y=y, slot=point.slot, shape=point.shape, is_filled=point.is_filled)


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
            ends.append((line, EndLabel(line.label, _percent(y), line.slot)))
    return ends


def place_steps(content: PlaneContent, xs: Scale, ys: Scale, label_row: float = LABEL_ROW) -> tuple[PlacedStep, ...]:
    """Their labels in rows, one below the other, at the height where lines leave most room."""
    if not content.steps:
        return ()
    left = min(xs.percent(step.x) for step in content.steps)
    taken = sorted(_heights_between(content, xs, ys, left, left + STEP_LABEL))
    block = label_row * len(content.steps)
    gaps = [(low, high) for low, high in pairwise([0.0, *taken, 100.0]) if high - low >= block]
    low, high = min(gaps, default=(0.0, block))
    top = low + max(0.0, min(label_row, (high - low - block) / 2)) if low else 0.0
    return tuple(
        PlacedStep(_percent(xs.percent(step.x)), _percent(top + row * label_row), step.slot, step.label)
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
    """As much of a name as has room beside a drawing: without what stands in brackets, then whole words and `…`."""
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
    occupied = [(end.text, 100.0, float(end.y) - LABEL_ROW) for end in ends]
    return [label for label in place_labels(named, occupied) if label.text]


def _percent(value: float) -> str:
    return f"{value:.1f}"
