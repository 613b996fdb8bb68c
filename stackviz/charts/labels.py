"""Names beside the dots of a drawing, where they cover nothing, for a wide, a middle and a narrow one. Pure data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT_PX, WIDE_PX, MIDDLE_PX, NARROW_PX = 520, 1080, 640, 290  # the drawing without its margins
LETTER_PX, LINE_PX, GAP_PX = 6.6, 14, 4
MOST_LABELS = 60
SAME_PLACE = 1.0  # per cent of the drawing: one name for what lies on one spot


@dataclass(frozen=True, slots=True)
class Named:
    """A dot and its name: its middle in per cent of the drawing from the upper left, its radius in pixels."""

    key: int
    text: str
    x: float
    y: float
    radius_px: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A dot's name beside it: an offset in pixels, and where its text is anchored.

    `only`: the drawings it fits into: "" any, "middle" not the narrow one, "wide" the wide one alone.
    """

    text: str
    x: str
    y: str
    dx: int
    dy: int
    anchor: str
    only: str


_Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels


def place_labels(named: Sequence[Named], lines: Sequence[tuple[str, float, float]] = ()) -> list[Label]:
    """Names of the outstanding dots, each where it covers no other name and no dot; what has no room has none.

    `lines`: the words of a line and its upper end in per cent; names keep clear of them too.
    """
    at = {dot.key: dot for dot in named}
    cloud = _Cloud(at, tuple(lines))
    wanted = outstanding([(dot.key, dot.x, dot.y) for dot in named])[:MOST_LABELS]
    wide = _placed(wanted, cloud, WIDE_PX)
    middle = _kept(_placed(wanted, cloud, MIDDLE_PX), wide)
    narrow = _kept(_placed(wanted, cloud, NARROW_PX), middle)
    found = []
    for key, (_side, (dx, dy, anchor)) in wide.items():
        only = "" if key in narrow else "middle" if key in middle else "wide"
        dot = at[key]
        found.append(Label(text=dot.text, x=f"{dot.x:.1f}", y=f"{dot.y:.1f}", dx=dx, dy=dy, anchor=anchor, only=only))
    return found


def _kept(smaller: dict[int, "_Placing"], larger: dict[int, "_Placing"]) -> dict[int, "_Placing"]:
    """What stands in the smaller drawing as in the larger one: a name has one place for all of them."""
    return {key: placing for key, placing in smaller.items() if larger.get(key) == placing}


def outstanding(points: Sequence[tuple[int, float, float]]) -> list[int]:
    """Keys, those first that stand out: on the upper left edge of the cloud, then those with most room around them."""
    edge = []
    lowest = math.inf
    for key, _x, y in sorted(points, key=lambda point: (point[1], point[2])):
        if y < lowest:
            edge.append(key)
            lowest = y
    room = {key: _room(key, x, y, points) for key, x, y in points}
    return [
        *sorted(edge, key=lambda key: -room[key]),
        *sorted(set(room) - set(edge), key=lambda key: (-room[key], key)),
    ]


def _room(key: int, x: float, y: float, points: Sequence[tuple[int, float, float]]) -> float:
    """Distance to the nearest other, in per cent of the drawing."""
    return min(
        (math.hypot(x - other_x, y - other_y) for other, other_x, other_y in points if other != key), default=100
    )


@dataclass(frozen=True, slots=True)
class _Cloud:
    """What labels must keep clear of: the dots by key, and the words of lines at their ends, in per cent."""

    dots: dict[int, Named]
    lines: tuple[tuple[str, float, float], ...]

    def boxes(self, width: int) -> list[_Box]:
        """What is taken before any name is written, in a drawing of this width."""
        found = []
        for dot in self.dots.values():
            x, y = _pixels(dot.x, dot.y, width)
            found.append((x - dot.radius_px, y - dot.radius_px, x + dot.radius_px, y + dot.radius_px))
        return found + [_box(text, _pixels(x, y, width), LINE_LABEL) for text, x, y in self.lines]


def _pixels(x: float, y: float, width: int) -> tuple[float, float]:
    return x * width / 100, y * HEIGHT_PX / 100


_Offset = tuple[int, int, str]  # in pixels, and where the text is anchored
_Placing = tuple[str, _Offset]  # which side of its dot
LINE_LABEL: _Offset = (-4, 12, "end")  # as the template writes it


def _placed(wanted: Sequence[int], cloud: _Cloud, width: int) -> dict[int, _Placing]:
    """Key -> (side, offset and anchor) of the labels that fit a drawing of this width."""
    taken = cloud.boxes(width)
    found: dict[int, _Placing] = {}
    for key in wanted:
        dot = cloud.dots[key]
        others = (cloud.dots[other] for other in found)
        if any(math.dist((dot.x, dot.y), (other.x, other.y)) < SAME_PLACE for other in others):
            continue
        for side, offset in _sides(dot.radius_px):
            box = _box(dot.text, _pixels(dot.x, dot.y, width), offset)
            if _is_inside(box, width) and not any(_overlap(box, other) for other in taken):
                found[key] = (side, offset)
                taken.append(box)
                break
    return found


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


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
