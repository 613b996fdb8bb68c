"""Labels beside the dots of a scatter that overlap nothing, at a wide, a middle and a narrow width. Pure data."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEIGHT_PX, WIDE_PX, MIDDLE_PX, NARROW_PX = 520, 1080, 640, 290  # the plot area without its margins
LETTER_PX, LINE_PX, GAP_PX = 6.6, 14, 4
MOST_LABELS = 60
MUST_NAME = 12  # places of dots that are named even where their name covers a dot of a later place, or of none
SAME_SPOT = 1.0  # per cent of the plot: dots closer than this share one label


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDot:
    """A dot to label: its centre in per cent of the plot from the upper left, its radius in pixels.

    `priority`: among those that readers look for, from 0; None for the others.
    """

    key: int
    text: str
    x: float
    y: float
    radius_px: float
    priority: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The label of the dot `key`: the dot's position in per cent, an offset in pixels, and the text anchor.

    `only`: the widths it fits: "" all, "middle" all but the narrow one, "wide" only the wide one.
    """

    key: int
    text: str
    x: float
    y: float
    dx: int
    dy: int
    anchor: str
    only: str


_Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels


def place_labels(
    named: Sequence[NamedDot],
    lines: Sequence[tuple[str, float, float]] = (),
    strokes: Sequence[tuple[float, float, float, float]] = (),
) -> list[Label]:
    """Labels that overlap no other label and no dot, first of those looked for, then of the most prominent dots.

    Dots without room get none.

    `lines`: (label, x, y) of each iso line at its upper end; `strokes`: (x1, y1, x2, y2) of level and upright lines, in
    per cent; labels avoid these too.
    """
    at = {dot.key: dot for dot in named}
    cloud = _Cloud(at, tuple(lines), tuple(strokes))
    known = sorted((dot.priority, dot.key) for dot in named if dot.priority is not None)
    prominent = outstanding([(dot.key, dot.x, dot.y) for dot in named])
    wanted = list(dict.fromkeys([*(key for _priority, key in known), *prominent]))[:MOST_LABELS]
    wide = _placed(wanted, cloud, WIDE_PX)
    middle = _placed_alike(_placed(wanted, cloud, MIDDLE_PX), wide)
    narrow = _placed_alike(_placed(wanted, cloud, NARROW_PX), middle)
    labels = []
    for key, (_side, (dx, dy, anchor)) in wide.items():
        only = "" if key in narrow else "middle" if key in middle else "wide"
        dot = at[key]
        x, y = round(dot.x, 1), round(dot.y, 1)
        labels.append(Label(key=key, text=dot.text, x=x, y=y, dx=dx, dy=dy, anchor=anchor, only=only))
    return labels


def _placed_alike(smaller: dict[int, "_Placing"], larger: dict[int, "_Placing"]) -> dict[int, "_Placing"]:
    """The placings of the smaller plot that equal those of the larger one: a label has one placing at all widths."""
    return {key: placing for key, placing in smaller.items() if larger.get(key) == placing}


def outstanding(points: Sequence[tuple[int, float, float]]) -> list[int]:
    """Keys by prominence: dots on the upper left edge of the cloud, then those with most room around them."""
    edge = []
    lowest = math.inf
    for key, _x, y in sorted(points, key=lambda point: (point[1], point[2])):
        if y < lowest:
            edge.append(key)
            lowest = y
    room = _rooms(points)
    return [
        *sorted(edge, key=lambda key: -room[key]),
        *sorted(set(room) - set(edge), key=lambda key: (-room[key], key)),
    ]


def _rooms(points: Sequence[tuple[int, float, float]]) -> dict[int, float]:
    """Key -> distance to the nearest other dot, in per cent of the plot; 100 without another."""
    across = sorted(points, key=lambda point: point[1])
    room = {}
    for at, (key, x, y) in enumerate(across):
        nearest = 100.0
        for neighbours in (across[at + 1 :], reversed(across[:at])):
            for _other, other_x, other_y in neighbours:
                if abs(other_x - x) >= nearest:
                    break
                nearest = min(nearest, math.hypot(x - other_x, y - other_y))
        room[key] = nearest
    return room


@dataclass(frozen=True, slots=True)
class _Cloud:
    """What labels must not overlap: the dots by key, the labels of lines at their ends, strokes, in per cent."""

    dots: dict[int, NamedDot]
    lines: tuple[tuple[str, float, float], ...]
    strokes: tuple[tuple[float, float, float, float], ...]

    def boxes(self, width: int, *, only_places: bool = False) -> list[_Box]:
        """Boxes occupied before any label is placed, at this width; `only_places`: of dots those of MUST_NAME."""
        boxes = []
        for dot in self.dots.values():
            if only_places and not _must_be_named(dot):
                continue
            x, y = _pixels(dot.x, dot.y, width)
            boxes.append((x - dot.radius_px, y - dot.radius_px, x + dot.radius_px, y + dot.radius_px))
        for x1, y1, x2, y2 in self.strokes:
            (left, top), (right, bottom) = (
                _pixels(min(x1, x2), min(y1, y2), width),
                _pixels(max(x1, x2), max(y1, y2), width),
            )
            boxes.append((left - 1, top - 1, right + 1, bottom + 1))
        return boxes + [_box(text, _pixels(x, y, width), LINE_LABEL) for text, x, y in self.lines]


def _must_be_named(dot: NamedDot) -> bool:
    return dot.priority is not None and dot.priority < MUST_NAME


def _pixels(x: float, y: float, width: int) -> tuple[float, float]:
    return x * width / 100, y * HEIGHT_PX / 100


_Offset = tuple[int, int, str]  # in pixels, and where the text is anchored
_Placing = tuple[str, _Offset]  # which side of its dot
LINE_LABEL: _Offset = (-4, 12, "end")  # as the template writes it


def _placed(wanted: Sequence[int], cloud: _Cloud, width: int) -> dict[int, _Placing]:
    """Key -> (side, offset and anchor) of the labels that fit at this width."""
    taken = _Obstacles(cloud.boxes(width))
    names = _Obstacles(cloud.boxes(width, only_places=True))
    placings: dict[int, _Placing] = {}
    for key in wanted:
        dot = cloud.dots[key]
        others = (cloud.dots[other] for other in placings)
        if any(math.dist((dot.x, dot.y), (other.x, other.y)) < SAME_SPOT for other in others):
            continue
        for obstacles in (taken, names) if _must_be_named(dot) else (taken,):
            free = _free_side(dot, obstacles, width)
            if free is not None:
                placing, box = free
                placings[key] = placing
                taken.add(box)
                names.add(box)
                break
    return placings


class _Obstacles:
    """Boxes by the bands of one line's height that they touch: a label is compared with those of its bands only."""

    def __init__(self, boxes: Iterable[_Box]) -> None:
        self._bands: dict[int, list[_Box]] = defaultdict(list)
        for box in boxes:
            self.add(box)

    def add(self, box: _Box) -> None:
        for band in _bands(box):
            self._bands[band].append(box)

    def overlap(self, box: _Box) -> bool:
        return any(_overlap(box, other) for band in _bands(box) for other in self._bands.get(band, ()))


def _bands(box: _Box) -> range:
    return range(math.floor(box[1] / LINE_PX), math.floor(box[3] / LINE_PX) + 1)


def _free_side(dot: NamedDot, obstacles: _Obstacles, width: int) -> "tuple[_Placing, _Box] | None":
    for side, offset in _sides(dot.radius_px):
        box = _box(dot.text, _pixels(dot.x, dot.y, width), offset)
        if _is_inside(box, width) and not obstacles.overlap(box):
            return (side, offset), box
    return None


def _sides(radius: float) -> tuple[tuple[str, _Offset], ...]:
    away = round(radius) + GAP_PX
    return (
        ("right", (away, 4, "start")),
        ("left", (-away, 4, "end")),
        ("above", (0, -away, "middle")),
        ("below", (0, away + 9, "middle")),
        ("upper right", (away - 3, -away + 3, "start")),
        ("lower right", (away - 3, away + 6, "start")),
        ("upper left", (3 - away, -away + 3, "end")),
        ("lower left", (3 - away, away + 6, "end")),
    )


def _box(text: str, at: tuple[float, float], offset: _Offset) -> _Box:
    dx, dy, anchor = offset
    length = len(text) * LETTER_PX
    left = at[0] + dx - {"start": 0.0, "middle": length / 2, "end": length}[anchor]
    bottom = at[1] + dy + 3
    return (left, bottom - LINE_PX, left + length, bottom)


def _is_inside(box: _Box, width: int) -> bool:
    return box[0] >= 0 and box[2] <= width and box[1] >= 0 and box[3] <= HEIGHT_PX


def _overlap(box: _Box, other: _Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
