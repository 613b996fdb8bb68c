"""A drawing as an SVG file that stands alone: the columns, layers, boxes and links of the page, for a slide or a paper.

Nothing is left to the viewer: lines are broken here, by widths that hold in any common font, so that no text is cut and
no box overlaps another. What boxes say once they are opened is left to the page. Pure: no ORM, no request.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext

from stackviz.draw.colours import STRATA
from stackviz.draw.diagrams.boxes import Box
from stackviz.draw.diagrams.drawing import BoxLine, DrawnLink, LayerRows, Placed, RoleCell, RoleRow, StackDrawing
from stackviz.draw.diagrams.layers import STATE_SHAPES, Layer, State
from stackviz.draw.diagrams.svg_marks import (
    BAD,
    EDGE,
    INK,
    INK_2,
    INK_3,
    LINE,
    PAPER,
    WARN,
    Circle,
    Linked,
    Mark,
    Path,
    Rect,
    Sketch,
    TextMark,
    svg_text,
    written_lines,
)  # fmt: skip
from stackviz.draw.diagrams.text_width import Style, lines_of, width_of

MARGIN, GAP, SIDE, LANE, INSET = 24.0, 20.0, 136.0, 14.0, 12.0
BOX_WIDTHS = {1: 440.0, 2: 350.0, 3: 300.0}
LEAST_BOX = 250.0
TITLE, HEAD, SUB = Style(18, bold=True), Style(15, bold=True), Style(12)
LAYER, ROLE, NAME, VERSION, SAYS = (
    Style(13, bold=True),
    Style(11.5),
    Style(13, bold=True),
    Style(11.5, mono=True),
    Style(11.5),
)
TINTS = {layer: shade.light for layer, shade in zip(Layer, STRATA, strict=True)}
STATE_COLOURS = {
    State.FITS: INK,
    State.WARNING: WARN,
    State.BROKEN: BAD,
    State.UNKNOWN: INK_3,
    State.ABSENT: INK_3,
    State.DESCRIBED: INK_2,
    State.REPORTED: INK_2,
}
LINK_DASHES = {State.BROKEN: "5 3", State.UNKNOWN: "1.5 3"}


@dataclass(frozen=True)
class _Piece:
    """Marks with the height they take, drawn as if their corner were at 0, 0; `keys`: where links may end."""

    height: float
    marks: tuple[Mark, ...]
    keys: Mapping[str, float]


@dataclass(frozen=True)
class _Frame:
    """The left edge of each column and the width of its boxes."""

    lefts: tuple[float, ...]
    box: float
    width: float


def svg_of(drawing: StackDrawing, title: str, note: str = "", *, only_differences: bool = False) -> str:
    """Draw under a title; `note` at the foot: where the drawing is from, and when it was made."""
    frame = _frame(drawing)
    folds = only_differences and len(drawing.columns) > 1
    marks: list[Mark] = []
    ends: dict[str, float] = {}
    y = MARGIN
    for piece in _pieces(drawing, frame, title, note, folds=folds):
        marks += _moved(piece.marks, 0, y)
        ends |= {key: y + at for key, at in piece.keys.items()}
        y += piece.height
    marks += [mark for link in drawing.links for mark in _link(link, ends, frame)]
    return svg_text(Sketch(frame.width, y + MARGIN, tuple(marks)), title, drawing.in_words)


def _frame(drawing: StackDrawing) -> _Frame:
    box = BOX_WIDTHS.get(len(drawing.columns), LEAST_BOX)
    lefts = []
    x = MARGIN + SIDE
    for index in range(len(drawing.columns)):
        lefts.append(x)
        lanes = drawing.lanes[index] if index < len(drawing.lanes) else 0
        x += box + (lanes * LANE + 8 if lanes else 0) + GAP
    return _Frame(tuple(lefts), box, max(x - GAP + MARGIN, MARGIN + SIDE + BOX_WIDTHS[1]))


def _pieces(drawing: StackDrawing, frame: _Frame, title: str, note: str, *, folds: bool) -> Iterator[_Piece]:
    """The drawing from top to bottom."""
    inside = frame.width - 2 * MARGIN
    yield _paragraph(title, MARGIN, inside, TITLE, 24, fill=INK, after=12)
    yield _heads(drawing, frame)
    for layer in drawing.layers:
        yield from _layer(layer, frame, folds=folds)
    if note:
        yield _paragraph(note, MARGIN, inside, SAYS, 16, fill=INK_2, before=12)


def _paragraph(
    text: str, x: float, width: float, style: Style, leading: float, fill: str, before: float = 0, after: float = 0
) -> _Piece:
    lines = lines_of(text, width, style)
    marks = written_lines(lines, x, before + style.size, style, leading, fill=fill)
    return _Piece(before + len(lines) * leading + after, marks, {})


# --- heads and layers ---


def _heads(drawing: StackDrawing, frame: _Frame) -> _Piece:
    marks: list[Mark] = []
    height = 0.0
    for column, x in zip(drawing.columns, frame.lefts, strict=True):
        marks.append(Rect(x=x, y=0, width=frame.box, height=3, fill=column.hue.light))
        names = lines_of(column.title, frame.box, HEAD)
        subs = lines_of(column.subtitle, frame.box, SUB)
        marks += written_lines(names, x, 22, HEAD, 20)
        marks += written_lines(subs, x, 22 + len(names) * 20 - 4, SUB, 16, fill=INK_2)
        height = max(height, 12 + len(names) * 20 + len(subs) * 16)
    return _Piece(height + 8, tuple(marks), {})


def _layer(layer: LayerRows, frame: _Frame, *, folds: bool) -> Iterator[_Piece]:
    """One layer: its rows below a line, its name left of the first."""
    rows = layer.differing if folds else layer.rows
    yield _Piece(4, (Rect(x=MARGIN, y=0, width=frame.width - 2 * MARGIN, height=1, fill=LINE),), {})
    for index, row in enumerate(rows):
        yield _row(row, layer, frame, is_first=index == 0)
    if folds and (layer.same or not rows):
        yield _same(layer, frame, is_first=not rows)
    yield _Piece(4, (), {})


def _side(layer: LayerRows, role: str, *, is_first: bool) -> tuple[float, list[Mark]]:
    """The height and marks left of a row: the layer's name once, and the row's role."""
    width = SIDE - INSET - 8
    names = lines_of(layer.title, width, LAYER) if is_first else []
    roles = lines_of(role, width, ROLE)
    top = 4.0 if is_first else 6.0
    marks: list[Mark] = list(written_lines(names, MARGIN + INSET, top + 14, LAYER, 16))
    marks += written_lines(roles, MARGIN + INSET, top + len(names) * 17 + 13, ROLE, 15, fill=INK_2)
    return top + len(names) * 17 + len(roles) * 15 + 6, marks


def _row(row: RoleRow, layer: LayerRows, frame: _Frame, *, is_first: bool) -> _Piece:
    height, marks = _side(layer, row.title, is_first=is_first)
    keys: dict[str, float] = {}
    for cell, x in zip(row.cells, frame.lefts, strict=True):
        piece = _cell(cell, layer.layer, frame.box)
        marks += _moved(piece.marks, x, 4)
        keys |= {key: 4 + at for key, at in piece.keys.items()}
        height = max(height, piece.height + 8)
    return _Piece(height, (Rect(x=MARGIN, y=0, width=4, height=height, fill=TINTS[layer.layer]), *marks), keys)


def _same(layer: LayerRows, frame: _Frame, *, is_first: bool) -> _Piece:
    """What is equal in all columns, by name."""
    text = gettext("the same in all columns: %(names)s") % {"names": ", ".join(layer.same)}
    lines = lines_of(text if layer.same else gettext("not described"), frame.width - MARGIN * 2 - SIDE, SAYS)
    height, marks = _side(layer, "", is_first=is_first)
    height = max(height, len(lines) * 16 + 12)
    marks += written_lines(lines, MARGIN + SIDE, 18, SAYS, 16, fill=INK_2)
    return _Piece(height, (Rect(x=MARGIN, y=0, width=4, height=height, fill=TINTS[layer.layer]), *marks), {})


# --- cells and boxes ---


def _cell(cell: RoleCell, layer: Layer, width: float) -> _Piece:
    pieces = [piece for placed in cell.placed for piece in (_box(placed, layer, width), *_says(placed, width))]
    pieces = pieces or [_gap(cell, layer, width)]
    marks: list[Mark] = []
    keys: dict[str, float] = {}
    y = 0.0
    for piece in pieces:
        marks += _moved(piece.marks, 0, y)
        keys |= {key: y + at for key, at in piece.keys.items()}
        y += piece.height
    return _Piece(y, tuple(marks), keys)


def _box(placed: Placed, layer: Layer, width: float) -> _Piece:
    """Name, state and version: the version right of them if there is room, else below."""
    box = placed.box
    inside = width - 2 * INSET
    names = lines_of(box.name, inside, NAME)
    label = f"{STATE_SHAPES[box.state]} {box.state.label}" if box.state.label else ""
    used = max((width_of(line, NAME) for line in names), default=0) if len(names) == 1 else inside
    texts: list[Mark] = list(written_lines(names, INSET, 19, NAME, 18))
    y = 19.0 + 18 * (len(names) - 1)
    if label and used + 10 + width_of(label, SAYS) <= inside:
        texts.append(TextMark(x=INSET + used + 10, y=y, text=label, style=SAYS, fill=STATE_COLOURS[box.state]))
        used += 10 + width_of(label, SAYS)
    elif label:
        y += 16
        texts.append(TextMark(x=INSET, y=y, text=label, style=SAYS, fill=STATE_COLOURS[box.state]))
        used = width_of(label, SAYS)
    versions = lines_of(box.version, inside, VERSION)
    if len(versions) == 1 and used + 12 + width_of(versions[0], VERSION) <= inside:
        texts.append(TextMark(x=width - INSET, y=y, text=versions[0], style=VERSION, fill=INK, anchor="end"))
    elif versions:
        texts += written_lines(versions, INSET, y + 16, VERSION, 16)
        y += 16 * len(versions)
    height = y + 10
    return _Piece(height + 4, (*_frame_of(box, layer, width, height), *texts), {placed.key: 15} if placed.key else {})


def _frame_of(box: Box, layer: Layer, width: float, height: float) -> tuple[Mark, ...]:
    """The box: filled in the layer's tint, edged in the state's where something is wrong, dashed where unknown."""
    tint = TINTS[layer]
    edge = STATE_COLOURS[box.state] if box.state in (State.WARNING, State.BROKEN) else EDGE
    if box.state in (State.UNKNOWN, State.ABSENT):
        return (
            Rect(x=0.5, y=0.5, width=width - 1, height=height - 1, fill="none", stroke=LINE, radius=6, dash="4 3"),
            Rect(x=0, y=0, width=4, height=height, fill=tint),
        )
    filled = Rect(x=0.5, y=0.5, width=width - 1, height=height - 1, fill=tint, stroke=edge, radius=4)
    return (filled,)


def _gap(cell: RoleCell, layer: Layer, width: float) -> _Piece:
    """An empty cell: that there is nothing, and what to know instead."""
    inside = width - 2 * INSET
    lines = lines_of(f"{STATE_SHAPES[State.ABSENT]} {cell.missing}", inside, SAYS)
    more = lines_of(cell.instead, inside, SAYS)
    height = 16.0 * (len(lines) + len(more)) + 14
    marks: list[Mark] = [
        Rect(x=0.5, y=0.5, width=width - 1, height=height - 1, fill="none", stroke=LINE, radius=6, dash="4 3")
    ]
    marks.append(Rect(x=0, y=0, width=4, height=height, fill=TINTS[layer]))
    marks += written_lines(lines, INSET, 19, SAYS, 16, fill=INK_3)
    marks += written_lines(more, INSET, 19 + 16 * len(lines), SAYS, 16, fill=INK_2)
    return _Piece(height + 4, tuple(marks), {})


def _says(placed: Placed, width: float) -> Iterator[_Piece]:
    """What is written under a box, led by its shape and its word."""
    for line in placed.lines:
        lines = lines_of(_words(line), width - INSET - 16, SAYS)
        colour = STATE_COLOURS[line.state]
        marks: list[Mark] = [TextMark(x=INSET, y=12, text=STATE_SHAPES[line.state], style=SAYS, fill=colour)]
        marks += written_lines(lines, INSET + 16, 12, SAYS, 15, fill=colour if line.state in _LOUD else INK_2)
        yield _Piece(15.0 * len(lines) + 3, tuple(marks), {})


_LOUD = (State.WARNING, State.BROKEN)


def _words(line: BoxLine) -> str:
    return f"{line.lead}: {line.text}" if line.lead else line.text


# --- links ---


def _link(link: DrawnLink, ends: Mapping[str, float], frame: _Frame) -> Iterator[Mark]:
    """A bracket right of the column with an arrow at the box that is needed; none where an end is folded away."""
    if link.top not in ends or link.bottom not in ends:
        return
    top, bottom = ends[link.top], ends[link.bottom]
    x = frame.lefts[link.column] + frame.box
    out = x + 10 + link.lane * LANE
    colour = STATE_COLOURS[link.state]
    width = 1.0 if link.state == State.DESCRIBED else 1.8
    yield Path(f"M{x:.1f} {top:.1f}H{out:.1f}V{bottom:.1f}H{x:.1f}", colour, width, LINK_DASHES.get(link.state, ""))
    foot = top if link.is_up else bottom
    yield Path(f"M{x:.1f} {foot:.1f}l7 -3.5v7z", fill=colour)
    if link.state.outcome:
        at = bottom - 14 if link.is_up else top + 14
        yield Circle(x=out, y=at, radius=6.5, fill=PAPER, stroke=colour)
        yield TextMark(
            x=out, y=at + 3.5, text=STATE_SHAPES[link.state], style=Style(9.5, bold=True), fill=colour, anchor="middle"
        )


def _moved(marks: tuple[Mark, ...], x: float, y: float) -> list[Mark]:
    """The marks of a piece at its place. Paths are drawn last."""
    return [mark if isinstance(mark, Path | Linked) else replace(mark, x=mark.x + x, y=mark.y + y) for mark in marks]
