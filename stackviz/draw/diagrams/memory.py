"""How a stack's memory is built, drawn: what computes, the memory it works in, and how bytes move.

    Host                     Package
    [CPU]                    [CPU] [GPU]
      |                        |     |
    [Main memory]            [Unified memory]
      ||  PCIe, a copy
    [Device memory]
      |
    [GPU]
    Card

Solid: loads and stores. Dashed and thick: bytes move only by a copy that a program asks for.

Plain data -> a sketch, as SVG. Pure: no ORM, no request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.draw.diagrams.svg_marks import (
    EDGE,
    INK,
    INK_2,
    INK_3,
    LINE,
    PAPER,
    Mark,
    Path,
    Rect,
    Sketch,
    TextMark,
    svg_part,
    svg_text,
    written_lines,
)  # fmt: skip
from stackviz.draw.diagrams.text_width import Style, lines_of

WIDTH, MARGIN, PAD, GAP = 344.0, 2.0, 12.0, 10.0
NAME, SMALL, CALL = Style(13, bold=True), Style(11), Style(10.5, mono=True)
LEADING = 15.0
HARDWARE = "var(--l-hardware)"


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A memory: "Device memory", "HBM or GDDR on the card". `enclosure` is what encloses it: "Card"."""

    key: str
    name: str
    what: str = ""
    size: str = ""
    note: str = ""
    source: SourceLink | None = None
    enclosure: str = ""


@dataclass(frozen=True)
class ComputeUnit:
    """What computes, and the pool it works in."""

    key: str
    name: str
    pool: str
    enclosure: str = ""


@dataclass(frozen=True, kw_only=True)
class Move:
    """How bytes get from one pool or unit to another. `is_explicit`: only by a copy that a program asks for."""

    start: str
    end: str
    name: str
    how: str = ""
    call: str = ""
    cost: str = ""
    is_explicit: bool = True
    source: SourceLink | None = None


@dataclass(frozen=True)
class Limit:
    """What a program may use of a pool."""

    pool: str
    text: str
    source: SourceLink | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryModel:
    """`steps`: what happens to a tensor, a sentence each, in order."""

    key: str
    title: str
    summary: str
    pools: tuple[Pool, ...]
    units: tuple[ComputeUnit, ...]
    moves: tuple[Move, ...] = ()
    limits: tuple[Limit, ...] = ()
    steps: tuple[str, ...] = ()


class Markup(str):
    """HTML whose texts are escaped already: templates write it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class MemoryDrawing:
    """A model with its picture: `svg` for a page, `file` to be kept. The template says the same in words."""

    model: MemoryModel
    svg: Markup
    moves: tuple[tuple[Move, str, str], ...]  # with the names of where it starts and where it ends
    limits: tuple[tuple[Limit, str], ...]  # with the name of the pool

    @property
    def file(self) -> str:
        return svg_text(_sketch(self.model), self.model.title, " ".join((self.model.summary, *self.model.steps)))


def draw_memory(model: MemoryModel) -> MemoryDrawing:
    """The picture of a model. Moves and limits of parts it does not have are left out."""
    names = {pool.key: pool.name for pool in model.pools} | {unit.key: unit.name for unit in model.units}
    return MemoryDrawing(
        model=model,
        svg=Markup(svg_part(_sketch(model))),  # every text in it is escaped there
        moves=tuple(
            (move, names[move.start], names[move.end])
            for move in model.moves
            if move.start in names and move.end in names
        ),
        limits=tuple((limit, names[limit.pool]) for limit in model.limits if limit.pool in names),
    )


@dataclass(frozen=True)
class _Spot:
    """The place of a part: its left edge and width, its upper and lower edge."""

    x: float
    width: float
    top: float
    bottom: float


@dataclass(frozen=True)
class _Enclosure:
    """What is drawn inside one frame. `is_upright`: what computes is above the memory, else below."""

    name: str
    pools: tuple[Pool, ...]
    units: tuple[ComputeUnit, ...]
    is_upright: bool

    @property
    def parts(self) -> tuple[Pool | ComputeUnit, ...]:
        return (*self.pools, *self.units)


def _enclosures(model: MemoryModel) -> list[_Enclosure]:
    """The first one upright, those after it with their memory on top, so that copies go from memory to memory."""
    names = dict.fromkeys([*(pool.enclosure for pool in model.pools), *(unit.enclosure for unit in model.units)])
    return [
        _Enclosure(
            name,
            tuple(pool for pool in model.pools if pool.enclosure == name),
            tuple(unit for unit in model.units if unit.enclosure == name),
            is_upright=index == 0,
        )
        for index, name in enumerate(names)
    ]


def _sketch(model: MemoryModel) -> Sketch:
    marks: list[Mark] = []
    spots: dict[str, _Spot] = {}
    y = MARGIN
    before: _Enclosure | None = None
    for enclosure in _enclosures(model):
        if before is not None:
            between = _between(model, before, enclosure)
            height = max((_label_height(move, _half(between)) for move in between), default=0.0)
            top = y
            y += height + 34
            marks += _arrows(between, {part.key for part in enclosure.parts}, top, y)
        drawn, y = _drawn_enclosure(model, enclosure, y, spots)
        marks += drawn
        before = enclosure
    return Sketch(WIDTH, y + MARGIN, tuple(marks))


def _between(model: MemoryModel, upper: _Enclosure, other: _Enclosure) -> list[Move]:
    """The moves between two enclosures, in both directions."""
    here = {part.key for part in upper.parts}
    there = {part.key for part in other.parts}
    return [
        move
        for move in model.moves
        if (move.start in here and move.end in there) or (move.start in there and move.end in here)
    ]


# --- between enclosures ---


def _half(moves: Sequence[Move]) -> float:
    """The width of the text beside one arrow."""
    return (WIDTH - 2 * PAD) / max(1, len(moves)) - 26


def _label(move: Move, width: float) -> list[tuple[str, Style, str]]:
    """The lines beside an arrow: name, how it works, the call, and whether the copy is explicit."""
    note = gettext("explicit copy") if move.is_explicit else gettext("no copy")
    parts = ((move.name, Style(11.5, bold=True), INK), (move.how, SMALL, INK_2), (move.call, CALL, INK))
    lines = [(line, style, fill) for text, style, fill in parts for line in lines_of(text, width, style)]
    return lines + [(line, SMALL, INK if move.is_explicit else INK_3) for line in lines_of(note, width, SMALL)]


def _label_height(move: Move, width: float) -> float:
    return LEADING * len(_label(move, width))


def _arrows(moves: Sequence[Move], below: set[str], top: float, bottom: float) -> Iterator[Mark]:
    """Side by side: upwards those that start `below`, downwards the others, each with its words on the right."""
    room = _half(moves)
    for index, move in enumerate(moves):
        x = PAD + 8 + index * (room + 26)
        yield from _arrow(x, top + 3, bottom - 3, is_copy=move.is_explicit, is_up=move.start in below)
        lines = _label(move, room)
        y = (top + bottom - LEADING * len(lines)) / 2 + 12
        for number, (line, style, fill) in enumerate(lines):
            yield TextMark(x=x + 14, y=y + number * LEADING, text=line, style=style, fill=fill)


def _arrow(x: float, top: float, bottom: float, *, is_copy: bool, is_up: bool) -> Iterator[Mark]:
    colour = INK if is_copy else INK_3
    yield Path(f"M{x:.1f} {top:.1f}V{bottom:.1f}", colour, 3 if is_copy else 1.5, "6 4" if is_copy else "")
    yield _tip(x, top, colour, is_up=True) if is_up else _tip(x, bottom, colour, is_up=False)


def _tip(x: float, y: float, colour: str, *, is_up: bool) -> Path:
    return Path(f"M{x:.1f} {y:.1f}l-5 {8 if is_up else -8}h10z", fill=colour)


# --- one enclosure ---


def _drawn_enclosure(
    model: MemoryModel, enclosure: _Enclosure, top: float, spots: dict[str, _Spot]
) -> tuple[list[Mark], float]:
    """The frame with its parts, and its lower edge."""
    marks: list[Mark] = []
    y = top + PAD
    title = lines_of(enclosure.name, WIDTH - 2 * PAD, NAME)
    marks += written_lines(title, PAD + MARGIN, y + 10, Style(12, bold=True), LEADING, fill=INK_2)
    y += LEADING * len(title) + (6 if title else 0)
    inner = [move for move in model.moves if _is_inside(move, enclosure)]
    ways = max((_way_height(move, enclosure) for move in inner), default=0.0)
    if enclosure.is_upright:
        drawn, y = _parts(enclosure.units, y, spots)
        marks += drawn
        marks += _ways(inner, enclosure, spots, y, y + ways)
        y += ways if enclosure.units else 0
        drawn, y = _parts(enclosure.pools, y, spots)
        marks += drawn
    else:
        drawn, y = _parts(enclosure.pools, y, spots)
        marks += drawn
        units, below = _parts(enclosure.units, y + ways, spots)
        marks += [*units, *_ways(inner, enclosure, spots, y, y + ways)]
        y = below if enclosure.units else y
    bottom = y + PAD
    frame = Rect(x=MARGIN, y=top, width=WIDTH - 2 * MARGIN, height=bottom - top, fill=PAPER, stroke=LINE, radius=8)
    return [frame, *marks], bottom


def _is_inside(move: Move, enclosure: _Enclosure) -> bool:
    """Whether it goes between a unit and a pool of this enclosure."""
    units, pools = {unit.key for unit in enclosure.units}, {pool.key for pool in enclosure.pools}
    return (move.start in units and move.end in pools) or (move.start in pools and move.end in units)


def _parts(parts: Sequence[Pool | ComputeUnit], top: float, spots: dict[str, _Spot]) -> tuple[list[Mark], float]:
    """Boxes side by side, all as high as the highest; their lower edge."""
    if not parts:
        return [], top
    width = (WIDTH - 2 * (MARGIN + PAD) - GAP * (len(parts) - 1)) / len(parts)
    texts = [_inscription(part, width - 20) for part in parts]
    height = max(LEADING * len(lines) for lines in texts) + 14
    marks: list[Mark] = []
    for index, (part, lines) in enumerate(zip(parts, texts, strict=True)):
        x = MARGIN + PAD + index * (width + GAP)
        spots[part.key] = _Spot(x, width, top, top + height)
        marks.append(
            Rect(
                x=x,
                y=top,
                width=width,
                height=height,
                fill=HARDWARE if isinstance(part, Pool) else PAPER,
                stroke=EDGE,
                radius=4,
            )
        )
        marks += (
            TextMark(x=x + 10, y=top + 19 + number * LEADING, text=line, style=style, fill=fill)
            for number, (line, style, fill) in enumerate(lines)
        )
    return marks, top + height


def _inscription(part: Pool | ComputeUnit, width: float) -> list[tuple[str, Style, str]]:
    lines = [(line, NAME, INK) for line in lines_of(part.name, width, NAME)]
    if isinstance(part, Pool):
        lines += [(line, SMALL, INK_2) for text in (part.what, part.size) for line in lines_of(text, width, SMALL)]
    return lines


def _way_width(enclosure: _Enclosure) -> float:
    count = max(1, len(enclosure.units))
    return (WIDTH - 2 * (MARGIN + PAD) - GAP * (count - 1)) / count - 30


def _way_height(move: Move, enclosure: _Enclosure) -> float:
    return max(30.0, LEADING * len(lines_of(move.name, _way_width(enclosure), SMALL)) + 14)


def _ways(
    moves: Sequence[Move], enclosure: _Enclosure, spots: dict[str, _Spot], top: float, bottom: float
) -> Iterator[Mark]:
    """Between each unit and its pool, with an arrow at either end: loads and stores go both ways."""
    for move in moves:
        unit = next((unit for unit in enclosure.units if unit.key in (move.start, move.end)), None)
        if unit is None or unit.key not in spots:
            continue
        x = spots[unit.key].x + 16
        colour = INK if move.is_explicit else INK_3
        yield from _arrow(x, top + 2, bottom - 2, is_copy=move.is_explicit, is_up=False)
        yield _tip(x, top + 2, colour, is_up=True)
        lines = lines_of(move.name, _way_width(enclosure), SMALL)
        y = (top + bottom - LEADING * len(lines)) / 2 + 11
        yield from written_lines(lines, x + 12, y, SMALL, LEADING, fill=INK_2)
