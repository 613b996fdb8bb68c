"""A scatter of two measures, as positions for SVG drawn on the server. Pure data.

charts/scatter_plotly.py draws the same with Plotly.

Positions are per cent of the plot, so that it fits any screen at the same font size; labels are placed for several
widths, and each states the widths it fits.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from stackviz.base.units import format_number
from stackviz.draw.charts.labels import HEIGHT_PX, WIDE_PX, Label, NamedDot, place_labels
from stackviz.draw.charts.scale import Mark, Scale, ScaleKind, scale_for
from stackviz.draw.colours import GREY, Hue

# Paths around the origin: circle, square, triangle, diamond, triangle upside down, cross.
SHAPES = (
    "M6 0A6 6 0 1 1-6 0A6 6 0 1 1 6 0Z",
    "M-5.3-5.3H5.3V5.3H-5.3Z",
    "M0-7L6.5 5H-6.5Z",
    "M0-7.5L7.5 0L0 7.5L-7.5 0Z",
    "M0 7L6.5-5H-6.5Z",
    "M-2.2-6.5H2.2V-2.2H6.5V2.2H2.2V6.5H-2.2V2.2H-6.5V-2.2H-2.2Z",
)
DISC, SQUARE = SHAPES[:2]  # a figure that was measured, here or elsewhere; one that its vendor published
RADIUS_PX = 7  # around the largest of SHAPES
SIZES = (0.55, 0.75, 1.0, 1.3, 1.65)  # scale of a shape; readers distinguish five sizes, not twenty
MIDDLE_SIZE = 2
FEWEST_LINES = 3
MOST_DRAWN = 80  # dots that a reader can tell apart in one picture; tables and files have all
MARGIN = 0.04

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point to draw: `x`, `y`, `size` in the units of their axes; `size` None: unknown.

    `is_hollow`: drawn as a ring, because others measured it. `priority`: of those that readers look for,
    from 0: they are named first. `can_lead` False: never on the front.
    """

    key: int
    label: str
    x: float
    y: float
    size: float | None = None
    hue: Hue = GREY
    note: str = ""
    is_hollow: bool = False
    priority: int | None = None
    can_lead: bool = True


@dataclass(frozen=True, slots=True)
class Iso:
    """Points on the line have this ratio: y / x, or x / y where `is_inverse`. `is_bound`: no point can be beyond it."""

    ratio: float
    label: str
    is_inverse: bool = False
    is_bound: bool = False

    @property
    def slope(self) -> float:
        """y / x."""
        return 1 / self.ratio if self.is_inverse else self.ratio


@dataclass(frozen=True, slots=True)
class Ways:
    """Which way is better on each axis: more, or less."""

    more_x: bool
    more_y: bool


@dataclass(frozen=True, slots=True)
class Spot:
    """A placed dot. `x`, `y` in per cent from the upper left; `step`: index into SIZES."""

    key: int
    x: float
    y: float
    step: int
    hue: Hue


@dataclass(frozen=True, slots=True, kw_only=True)
class IsoLine:
    """An iso line from end to end, with its label near the upper end."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    is_bound: bool = False


Piece = tuple[float, float, float, float]  # x1, y1, x2, y2 of a straight piece of the front, in per cent


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """`front`: keys of the dots on the Pareto front, by x; `pieces`: the staircase through them.

    `drawn`: keys of the dots that there is room for.
    """

    spots: tuple[Spot, ...] = ()
    labels: tuple[Label, ...] = ()
    x_marks: tuple[Mark, ...] = ()
    y_marks: tuple[Mark, ...] = ()
    lines: tuple[IsoLine, ...] = ()
    front: tuple[int, ...] = ()
    pieces: tuple[Piece, ...] = ()
    drawn: frozenset[int] = frozenset()


def place_scatter(
    dots: Sequence[Dot],
    x_kind: ScaleKind,
    y_kind: ScaleKind,
    isos: Sequence[Iso] = (),
    ways: Ways | None = None,
    *,
    most: int = MOST_DRAWN,
) -> Scatter:
    """The position of every element. On a logarithmic axis, values <= 0 are at the low end. `ways`: draw the front.

    Of more than `most` dots the labels are those of `drawn_keys`.
    """
    if not dots:
        return Scatter()
    xs, ys = scale_for([dot.x for dot in dots], x_kind, margin=MARGIN), place_heights(dots, y_kind, isos)
    steps = size_steps([dot.size for dot in dots])
    radii = [RADIUS_PX * SIZES[step] for step in steps]
    named = _apart([_named(dot, radius, xs, ys) for dot, radius in zip(dots, radii, strict=True)])
    spots = [
        Spot(dot.key, round(at.x, 1), round(at.y, 1), step, dot.hue)
        for dot, at, step in zip(dots, named, steps, strict=True)
    ]
    lines = [line for iso in isos if (line := _line(iso, xs, ys))]
    front = front_of(dots, ways)
    shown = drawn_keys(dots, front, most)
    line_of_front = front_line([(dot.x, dot.y) for dot in front], more_x=bool(ways and ways.more_x))
    pieces = tuple(_piece(start, end, xs, ys) for start, end in line_of_front)
    return Scatter(
        spots=tuple(spots),
        labels=tuple(_labels([dot for dot in named if dot.key in shown], lines, pieces)),
        x_marks=tuple(Mark(xs.position(tick), tick_label(tick, x_kind)) for tick in xs.ticks()),
        y_marks=tuple(Mark(ys.position_from_top(tick), tick_label(tick, y_kind)) for tick in ys.ticks()),
        lines=tuple(lines),
        front=tuple(dot.key for dot in front),
        pieces=pieces,
        drawn=shown,
    )


def drawn_keys(dots: Sequence[Dot], front: Sequence[Dot], most: int = MOST_DRAWN) -> frozenset[int]:
    """Keys of the dots that a picture has room for: those that readers look for, the front, then some from all over."""
    if len(dots) <= most:
        return frozenset(dot.key for dot in dots)
    requested = sorted((dot for dot in dots if dot.priority is not None), key=lambda dot: dot.priority or 0)
    first = frozenset(list(dict.fromkeys(dot.key for dot in (*requested, *front)))[:most])
    others = [dot.key for dot in dots if dot.key not in first]
    room = most - len(first)
    return first | {others[number * len(others) // room] for number in range(room)}


def _named(dot: Dot, radius_px: float, xs: Scale, ys: Scale) -> NamedDot:
    return NamedDot(
        key=dot.key,
        text=dot.label,
        x=xs.percent(dot.x),
        y=100 - ys.percent(dot.y),
        radius_px=radius_px,
        priority=dot.priority,
    )


def place_heights(dots: Sequence[Dot], kind: ScaleKind, isos: Sequence[Iso] = ()) -> Scale:
    """The vertical scale: it holds each bound above the dot furthest right, which stays in sight."""
    furthest = max(dot.x for dot in dots)
    bounds = (furthest * iso.slope for iso in isos if iso.is_bound)
    return scale_for([*(dot.y for dot in dots), *bounds], kind, margin=MARGIN)


def front_of(dots: Sequence[Dot], ways: Ways | None) -> list[Dot]:
    """The dots on the Pareto front, by x; none without a better way."""
    if ways is None:
        return []
    leading = [dot for dot in dots if dot.can_lead]
    indices = pareto_front([(dot.x, dot.y) for dot in leading], more_x=ways.more_x, more_y=ways.more_y)
    return [leading[index] for index in indices]


def tick_label(tick: float, kind: ScaleKind) -> str:
    """A number; a year without a comma."""
    return f"{tick:.0f}" if kind == "year" else format_number(tick)


def _piece(start: Point, end: Point, xs: Scale, ys: Scale) -> Piece:
    (x1, y1), (x2, y2) = start, end
    return xs.position(x1), ys.position_from_top(y1), xs.position(x2), ys.position_from_top(y2)


def _apart(named: Sequence[NamedDot]) -> list[NamedDot]:
    """Dots of one x side by side where they would cover each other; those looked for stay where they are."""
    order = sorted(named, key=lambda dot: math.inf if dot.priority is None else dot.priority)  # stable
    discs = [Disc(dot.x * WIDE_PX / 100, dot.y * HEIGHT_PX / 100, dot.radius_px) for dot in order]
    moved = {dot.key: shift * 100 / WIDE_PX for dot, shift in zip(order, dodge(discs), strict=True)}
    return [replace(dot, x=dot.x + moved[dot.key]) if moved[dot.key] else dot for dot in named]


def _labels(named: Sequence[NamedDot], lines: Sequence[IsoLine], pieces: Sequence[Piece]) -> list[Label]:
    """Labels of the dots looked for and the most prominent; they overlap no dots, lines' labels or front."""
    return place_labels(named, [(line.label, line.x2, line.y2) for line in lines], pieces)


def size_steps(sizes: Sequence[float | None]) -> list[int]:
    """Index into SIZES of each, by the logarithm of its value; MIDDLE_SIZE where unknown or where all are equal."""
    known = [math.log10(size) for size in sizes if size]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if high == low:
        return [MIDDLE_SIZE] * len(sizes)
    last = len(SIZES) - 1
    return [
        MIDDLE_SIZE if size is None else round((math.log10(size) - low) / (high - low) * last) if size else 0
        for size in sizes
    ]


# --- lines of equal ratio ---


def iso_ratios(ratios: Iterable[float], most: int = 5) -> list[float]:
    """Round ratios among these, evenly spread over their decades: 1, 10, 100, or 20, 50, 100."""
    positive = sorted(ratio for ratio in ratios if ratio > 0)
    if not positive:
        return []
    # The middle nine tenths: a single outlier would spread the lines over empty space.
    low, high = positive[len(positive) // 20], positive[-1 - len(positive) // 20]
    for reach in (1, 2, 5):
        inside = _round_between(low / reach, high * reach, most)
        if len(inside) >= FEWEST_LINES:
            break
    return inside


def _round_between(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside: list[float] = []
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        ratios = (number * 10.0**power for power in powers for number in mantissas)
        inside = [ratio for ratio in ratios if low <= ratio <= high]
        if len(inside) <= most:
            break
    return inside


def _line(iso: Iso, xs: Scale, ys: Scale) -> IsoLine | None:
    """The part of the line inside the plot; None where it does not cross it."""
    slope = iso.slope
    left, right = max(xs.low, ys.low / slope), min(xs.high, ys.high / slope)
    if not left < right:
        return None
    ends = [(xs.position(x), ys.position_from_top(x * slope)) for x in (left, right)]
    (x1, y1), (x2, y2) = ends
    return IsoLine(x1=x1, y1=y1, x2=x2, y2=y2, label=iso.label, is_bound=iso.is_bound)


# --- dots at one value of x, moved apart sideways where they would cover each other ---

STEP_PX = 4
MOST_STEPS = 6  # to either side: further away a dot would stand at another value
COVERED = 0.8  # of the two radii: dots nearer than this hide each other
SHIFTS = (0.0, *(float(side * step * STEP_PX) for step in range(1, MOST_STEPS + 1) for side in (1, -1)))  # 0, 4, -4, 8


@dataclass(frozen=True, slots=True)
class Disc:
    """A dot in pixels of the wide drawing."""

    x: float
    y: float
    radius: float


def dodge(discs: Sequence[Disc]) -> list[float]:
    """How far each is moved to the right, in pixels; the first of a column stay, later ones step aside for them."""
    reach = 2 * COVERED * max((disc.radius for disc in discs), default=1.0)  # further apart no two cover each other
    placed: dict[tuple[float, int], list[Disc]] = defaultdict(list)  # by column, and band of that height
    moved = []
    for disc in discs:
        column, band = round(disc.x, 1), math.floor(disc.y / reach)
        near = [other for each in (band - 1, band, band + 1) for other in placed.get((column, each), ())]
        shift = next((shift for shift in SHIFTS if _is_free(disc, shift, near)), 0.0)
        placed[column, band].append(Disc(disc.x + shift, disc.y, disc.radius))
        moved.append(shift)
    return moved


def _is_free(disc: Disc, shift: float, near: Sequence[Disc]) -> bool:
    return all(
        math.hypot(disc.x + shift - other.x, disc.y - other.y) >= COVERED * (disc.radius + other.radius)
        for other in near
    )


# --- the Pareto front: points that no other beats in both directions ---


def pareto_front(points: Sequence[Point], *, more_x: bool, more_y: bool) -> list[int]:
    """Indices of the points on the front, from the smallest x. Equal points are on it together.

    `more_x`, `more_y`: whether more is better in that direction. A point is off the front if another is at least as
    good in both directions and better in one.
    """
    x_sign, y_sign = (1 if more_x else -1), (1 if more_y else -1)
    best_first = sorted(range(len(points)), key=lambda i: (-x_sign * points[i][0], -y_sign * points[i][1]))
    front: list[int] = []
    for index in best_first:
        x, y = points[index]
        if not front or y_sign * y > y_sign * points[front[-1]][1] or (x, y) == points[front[-1]]:
            front.append(index)
    return sorted(front, key=lambda index: points[index])


def front_line(points: Sequence[Point], *, more_x: bool) -> list[tuple[Point, Point]]:
    """The front as a staircase of straight pieces: how much of y there is for each x. `points`: by x."""
    pieces: list[tuple[Point, Point]] = []
    for (x1, y1), (x2, y2) in pairwise(dict.fromkeys(points)):
        corner = (x1, y2) if more_x else (x2, y1)
        pieces += [((x1, y1), corner), (corner, (x2, y2))]
    return pieces
