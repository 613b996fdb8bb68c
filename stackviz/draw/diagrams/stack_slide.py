"""Two to six stacks as one picture: the eight layers as strata, a row for each job, counterparts side by side.

                               NVIDIA CUDA on Linux           Apple Metal on macOS
    Libraries  matrix product  cuBLAS                 13.1    Metal Performance Shaders
               collectives     NCCL                 2.30.7    done by MLX
    Hardware   neural engine   / no neural engine /           Neural Engine

The jobs are those that a program meets; the page has them all. A job that nothing does is hatched. What a component
needs of another is one line with an arrow, at the side of its column. Pure: no ORM, no request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.draw import colours
from stackviz.draw.diagrams.boxes import Box, RequirementLink, StackColumn, copy_with
from stackviz.draw.diagrams.drawing import LayerRows, RoleCell, RoleRow, StackDrawing
from stackviz.draw.diagrams.layers import STATE_SHAPES, Layer, State
from stackviz.draw.diagrams.slide import GROUND, SLIDE, Caption, Fitted, PictureSize, fitted, hatched, sheet_of
from stackviz.draw.diagrams.svg_marks import BAD, INK, INK_2, WARN, Circle, Mark, Path, Rect, Sketch, TextMark, svg_text
from stackviz.draw.diagrams.text_width import Style, lines_of, width_of

# The jobs that a program meets on its way down; of a layer without any of them, the first that is described.
MAIN_ROLES = {
    Layer.APPLICATION: ("program", "server"),
    Layer.FRAMEWORK: ("framework",),
    Layer.COMPILER: ("graph-compiler", "kernel-compiler"),
    Layer.LIBRARY: ("matrix-product", "neural-network-kernels", "collectives"),
    Layer.PLATFORM: ("device-runtime",),
    Layer.DRIVER: ("device-driver",),
    Layer.OS: ("operating-system",),
    Layer.HARDWARE: ("accelerator", "memory", "neural-engine"),
}
TINTS = dict(zip(Layer, (shade.light for shade in colours.STRATA), strict=True))
LOUD = {State.WARNING: WARN, State.BROKEN: BAD}
MOST_WITH_LINES = 2  # columns: with more there is no room at their sides
SCALES = tuple(1.0 - 0.04 * step for step in range(16))
NAME, OTHER, VERSION, ROLE = 20.0, 17.0, 14.0, 13.0  # sizes of type on the card, at scale 1
INSET, LANE = 12.0, 11.0


@dataclass(frozen=True)
class _Row:
    """`layer`: its title where the row is the first of its layer. `count`: rows of the layer."""

    of: Layer
    layer: str
    count: int
    row: RoleRow


@dataclass(frozen=True)
class _Frame:
    """The places of the columns; `lanes`: of the lines at the side of each."""

    page: PictureSize
    side: float
    width: float
    gap: float
    lanes: tuple[int, ...]

    def left(self, column: int) -> float:
        return self.page.margin + self.side + self.gap + column * (self.width + self.gap)

    def room(self, column: int) -> float:
        """The width of a text."""
        return self.width - (2 * INSET + self.lanes[column] * LANE) * self.page.unit


@dataclass(frozen=True)
class _Bus:
    """What several rows need of one: a line from the first of them to it."""

    sources: tuple[int, ...]
    target: int
    state: State
    lane: int = 0


def stack_sketch(drawing: StackDrawing, page: PictureSize, caption: Caption) -> Sketch:
    """The picture of these columns."""
    rows = list(_rows(drawing))
    columns = tuple(_with_drawn_links(column, rows, index) for index, column in enumerate(drawing.columns))
    drawing = StackDrawing(columns, drawing.layers)
    busses = [_busses(column, rows, index) for index, column in enumerate(columns)]
    if len(drawing.columns) > MOST_WITH_LINES:
        busses = [[] for _column in busses]
    frame = _frame(page, drawing, busses)
    sheet = sheet_of(page, caption, Style(46))
    heads, top = _heads(drawing, frame, sheet.top)
    bottom = sheet.bottom - 30 * page.unit
    scale, heights = _heights(rows, frame, drawing, bottom - top)
    tops = [top + sum(heights[:index]) for index in range(len(rows) + 1)]
    marks: list[Mark] = [*sheet.marks, *heads]
    for index, row in enumerate(rows):
        marks += _row_marks(row, frame, tops[index], heights[index], scale, drawing)
    for column in range(len(drawing.columns)):
        for bus in busses[column]:
            marks += _bus_marks(bus, frame, column, tops)
    marks += _legend(rows, any(busses), page, bottom + 8 * page.unit)
    ground = Rect(x=0, y=0, width=page.width, height=page.height, fill=GROUND)
    return Sketch(page.width, page.height, (ground, *marks))


def stack_slide(drawing: StackDrawing, caption: Caption) -> str:
    """The picture as a file for a slide of 16:9."""
    return svg_text(stack_sketch(drawing, SLIDE, caption), caption.title, drawing.in_words)


def stack_finding(drawing: StackDrawing) -> str:
    """What a pair of stacks comes to: how many jobs are done by the same component, what one needs to match.

    "" for other numbers of columns, and for what machines reported: they do not report all.
    """
    is_described = all(
        box.state in (State.DESCRIBED, State.ABSENT) for column in drawing.columns for box in column.boxes
    )
    if len(drawing.columns) != 2 or not is_described:
        return ""
    pairs = [row.cells for layer in drawing.layers for row in layer.rows if any(cell.placed for cell in row.cells)]
    same = sum(bool(_components(first) & _components(second)) for first, second in pairs)
    parts = [
        ngettext(
            "%(same)d of %(n)d job is done by the same component on both",
            "%(same)d of %(n)d jobs are done by the same component on both",
            len(pairs),
        )
        % {"same": same, "n": len(pairs)}
    ]
    needs = [len(column.links) for column in drawing.columns]
    if all(needs):
        parts.append(
            _("%(n)d version requirements on %(first)s, %(m)d on %(second)s")
            % {"n": needs[0], "first": drawing.columns[0].title, "m": needs[1], "second": drawing.columns[1].title}
        )
    return _("%(sentence)s.") % {"sentence": _("; ").join(parts)}


def _components(cell: RoleCell) -> set[str]:
    return {placed.box.component for placed in cell.placed}


def _rows(drawing: StackDrawing) -> Iterator[_Row]:
    for layer in drawing.layers:
        chosen = _chosen_rows(layer)
        for index, row in enumerate(chosen):
            yield _Row(layer.layer, "" if index else layer.title, len(chosen), row)


def _chosen_rows(layer: LayerRows) -> Sequence[RoleRow]:
    main = [row for row in layer.rows if row.role in MAIN_ROLES[layer.layer]] or layer.rows[:1]
    return [row for row in main if _is_known(row)] or main[:1]


def _is_known(row: RoleRow) -> bool:
    """Whether any column says more than that nothing was reported."""
    return any(placed.box.state is not State.UNKNOWN for cell in row.cells for placed in cell.placed)


def _frame(page: PictureSize, drawing: StackDrawing, busses: Sequence[Sequence[_Bus]]) -> _Frame:
    count = len(drawing.columns)
    side, gap = (220 if count < 4 else 180) * page.unit, (14 if count < 4 else 8) * page.unit
    width = (page.inside - side - gap * count) / count
    lanes = tuple(max((bus.lane + 1 for bus in column), default=0) for column in busses)
    return _Frame(page, side, width, gap, lanes)


def _heads(drawing: StackDrawing, frame: _Frame, top: float) -> tuple[list[Mark], float]:
    """(the name of each column with the bar of its vendor, where the rows begin)."""
    unit = frame.page.unit
    size = Style(24 * unit, bold=True)
    titles = [column.title for column in drawing.columns] if drawing.is_several else [""]  # one is the picture's title
    texts = [fitted(title, frame.width, 2.5 * 0.7 * size.size, size, 0.5) for title in titles]
    foot = top + max(text.height for text in texts)
    marks: list[Mark] = []
    for index, (column, text) in enumerate(zip(drawing.columns, texts, strict=True)):
        marks += text.marks(frame.left(index), foot - text.height)
        bar = Rect(x=frame.left(index), y=foot + 4 * unit, width=frame.width, height=5 * unit, fill=column.hue.light)
        marks.append(bar)
    return marks, foot + 9 * unit


# --- rows ---


@dataclass(frozen=True)
class _Cell:
    """The texts of a cell, below each other but for `right`, which has a place at the right of the first."""

    texts: tuple[tuple[Fitted, str], ...]
    right: Fitted | None = None
    is_gap: bool = False

    @property
    def height(self) -> float:
        return sum(text.height for text, _fill in self.texts)


def _heights(rows: Sequence[_Row], frame: _Frame, drawing: StackDrawing, room: float) -> tuple[float, list[float]]:
    """(the largest scale of type at which all rows fit, the height of each)."""
    for scale in SCALES:
        needed = [_height(row, frame, scale, drawing) for row in rows]
        if sum(needed) <= room:
            break
    spare = (room - sum(needed)) / len(needed)
    return scale, [height + spare for height in needed]


def _height(row: _Row, frame: _Frame, scale: float, drawing: StackDrawing) -> float:
    cells = [_cell(row, index, frame, scale, drawing).height for index in range(len(drawing.columns))]
    return max(_side(row, frame, scale).height, *cells) + 5 * frame.page.unit


def _side(row: _Row, frame: _Frame, scale: float) -> Fitted:
    """The title of the row: its job, or the layer's name where it has one job only."""
    unit = frame.page.unit * max(scale, 0.7)
    if row.count == 1:
        return _lines(row.layer, frame.side, Style(15 * unit, bold=True))
    return _lines(row.row.title or row.layer, frame.side * 0.54, Style(ROLE * unit))


def _lines(text: str, width: float, style: Style) -> Fitted:
    return fitted(text, width, style.size * 2.5, style, 0.7)


def _cell(row: _Row, column: int, frame: _Frame, scale: float, drawing: StackDrawing) -> _Cell:
    cell, width = row.row.cells[column], frame.room(column)
    unit = frame.page.unit * scale
    if not cell.placed:
        words = _("no %(job)s") % {"job": row.row.title or row.layer} if cell.is_gap else cell.missing
        return _Cell(((_lines(words, width, Style(15 * unit)), INK_2),), is_gap=cell.is_gap)
    first, *others = (placed.box for placed in cell.placed)
    name, version = Style(NAME * unit, bold=True), Style(VERSION * unit, mono=True)
    fill = LOUD.get(first.state, INK)
    head = Fitted(tuple(lines_of(_called(first), width, name)), name)
    texts = [(head, fill)]
    beside = _version(first, _needed(drawing.columns[column].links, first))
    alternatives = ", ".join(_called(box, version=True) for box in others)
    if alternatives:
        other = Style(OTHER * unit)
        on_line = width_of(f"{_called(first)}, ", name) + width_of(alternatives, other) <= width
        if on_line and not beside:
            return _Cell(((head, fill),), Fitted((alternatives,), other))
        texts.append((Fitted(tuple(lines_of(alternatives, width, other)), other), INK_2))
    if beside and head.width + 14 * unit + width_of(beside, version) <= width and len(head.lines) == 1:
        return _Cell(tuple(texts), Fitted((beside,), version))
    if beside:
        texts.append((Fitted(tuple(lines_of(beside, width, version)), version), INK_2))
    return _Cell(tuple(texts))


def _called(box: Box, *, version: bool = False) -> str:
    shape = f"{STATE_SHAPES[box.state]} " if box.state in LOUD else ""
    label = f" ({box.state.label})" if box.state in LOUD else ""
    return f"{shape}{box.name}{f' ({box.version})' if version and box.version else ''}{label}"


def _version(box: Box, needed: str) -> str:
    """What others need of it, or its own version, or its newest release."""
    if box.state is not State.DESCRIBED:
        return box.version or (box.state.label if box.state is State.UNKNOWN else "")
    release = box.requires.release if box.requires else ""
    if box.layer in (Layer.DRIVER, Layer.OS):  # a program takes what the machine has, not the newest
        return needed or box.version
    return needed or " · ".join(filter(None, (release, box.version)))


def _needed(links: Sequence[RequirementLink], box: Box) -> str:
    return next((link.need for link in links if link.target_component == box.component), "")


def _row_marks(
    row: _Row, frame: _Frame, top: float, height: float, scale: float, drawing: StackDrawing
) -> Iterator[Mark]:
    page = frame.page
    tint = TINTS[row.of]
    yield Rect(x=page.margin, y=top, width=page.inside, height=height + 0.5, fill=tint)
    if row.layer:
        yield Rect(x=page.margin, y=top - 1, width=page.inside, height=2, fill=GROUND)
    for index in range(1, len(drawing.columns) + 1):
        yield Rect(x=frame.left(index - 1) - frame.gap, y=top - 1, width=frame.gap, height=height + 2, fill=GROUND)
    yield from _side_marks(row, frame, top, height, scale)
    for index in range(len(drawing.columns)):
        yield from _cell_marks(_cell(row, index, frame, scale, drawing), frame, index, top, height)


def _side_marks(row: _Row, frame: _Frame, top: float, height: float, scale: float) -> Iterator[Mark]:
    page, text = frame.page, _side(row, frame, scale)
    left = page.margin + INSET * page.unit
    middle = top + (height - text.height) / 2
    if row.count == 1:
        yield from text.marks(left, middle)
        return
    if row.layer:
        name = fitted(row.layer, frame.side * 0.4, height, Style(15 * page.unit * max(scale, 0.7), bold=True), 0.7)
        yield from name.marks(left, top + (height - name.height) / 2)
    yield from text.marks(page.margin + frame.side * 0.46, middle, INK_2)


def _cell_marks(cell: _Cell, frame: _Frame, column: int, top: float, height: float) -> Iterator[Mark]:
    unit, left, width = frame.page.unit, frame.left(column) + INSET * frame.page.unit, frame.room(column)
    y = top + (height - cell.height) / 2
    if cell.is_gap:
        text, fill = cell.texts[0]
        yield from hatched(left - 4 * unit, top + 3 * unit, width + 4 * unit, height - 6 * unit, 7 * unit)
        plate = colours.SURFACE.light
        yield Rect(x=left, y=top + 4 * unit, width=text.width + 8 * unit, height=height - 8 * unit, fill=plate)
        yield from text.marks(left + 4 * unit, y, fill)
        return
    if cell.right:
        foot = y + cell.texts[0][0].style.size * 0.95 - cell.right.style.size * 0.95
        yield from cell.right.marks(left + width, foot, INK_2, is_right=True)
    for text, fill in cell.texts:
        yield from text.marks(left, y, fill)
        y += text.height


# --- what needs what ---


def _places(rows: Sequence[_Row], index: int) -> dict[str, int]:
    """The row of each component that is the first of its row in this column: alternatives have other needs."""
    firsts = ((number, row.row.cells[index].placed[:1]) for number, row in enumerate(rows))
    return {placed.box.component: number for number, first in firsts for placed in first}


def _with_drawn_links(column: StackColumn, rows: Sequence[_Row], index: int) -> StackColumn:
    at = _places(rows, index)
    links = (link for link in column.links if {link.source_component, link.target_component} <= at.keys())
    return copy_with(
        column, links=tuple(link for link in links if at[link.source_component] != at[link.target_component])
    )


def _busses(column: StackColumn, rows: Sequence[_Row], index: int) -> list[_Bus]:
    """A line for each row that others need."""
    at = _places(rows, index)
    by_target: dict[tuple[int, State], set[int]] = {}
    for link in column.links:
        needed = at[link.target_component], link.state
        by_target.setdefault(needed, set()).add(at[link.source_component])
    return list(
        _in_lanes([_Bus(tuple(sorted(sources)), target, state) for (target, state), sources in by_target.items()])
    )


def _in_lanes(busses: Sequence[_Bus]) -> Iterator[_Bus]:
    """The shortest in the lane next to the text; no two in one lane where they meet."""
    taken: list[list[tuple[int, int]]] = []
    spans = {bus: (min(*bus.sources, bus.target), max(*bus.sources, bus.target)) for bus in busses}
    for bus, (low, high) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[1])):
        lane = next((n for n, there in enumerate(taken) if all(high < a or b < low for a, b in there)), len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        yield _Bus(bus.sources, bus.target, bus.state, lane)


def _bus_marks(bus: _Bus, frame: _Frame, column: int, tops: Sequence[float]) -> Iterator[Mark]:
    """A dot where something needs, an arrow at what it needs."""
    unit = frame.page.unit
    colour = LOUD.get(bus.state, INK_2)
    x = frame.left(column) + frame.width - (8 + (frame.lanes[column] - 1 - bus.lane) * LANE) * unit
    edge = x - 7 * unit
    middle = [(tops[row] + tops[row + 1]) / 2 for row in (*bus.sources, bus.target)]
    end = middle[-1]
    yield Path(f"M{x:.1f} {middle[0]:.1f}L{x:.1f} {end:.1f}L{edge:.1f} {end:.1f}", stroke=colour, width=1.6 * unit)
    tip = edge - 4 * unit
    yield Path(
        f"M{tip:.1f} {end:.1f}L{edge + 2 * unit:.1f} {end - 4 * unit:.1f}L{edge + 2 * unit:.1f} {end + 4 * unit:.1f}z",
        fill=colour,
    )
    for y in middle[:-1]:
        yield Circle(x=x, y=y, radius=3.2 * unit, fill=colour)


def _legend(rows: Sequence[_Row], has_lines: bool, page: PictureSize, top: float) -> Iterator[Mark]:  # noqa: FBT001
    """What hatching, lines and figures mean, as far as the picture has them."""
    unit, x = page.unit, page.margin
    style = Style(14 * unit)
    foot = top + style.size * 0.95
    if any(cell.is_gap for row in rows for cell in row.row.cells):
        yield from hatched(x, top - 1 * unit, 26 * unit, 16 * unit, 6 * unit)
        text = _("a job that nothing does here")
        yield TextMark(x=x + 34 * unit, y=foot, text=text, style=style, fill=INK_2)
        x += (34 + 26) * unit + width_of(text, style)
    if has_lines:
        middle = top + 7 * unit
        yield Circle(x=x + 4 * unit, y=middle, radius=3.2 * unit, fill=INK_2)
        yield Path(f"M{x + 4 * unit:.1f} {middle:.1f}L{x + 24 * unit:.1f} {middle:.1f}", stroke=INK_2, width=1.6 * unit)
        tip, back = x + 30 * unit, x + 23 * unit
        head = f"M{tip:.1f} {middle:.1f}L{back:.1f} {middle - 4 * unit:.1f}L{back:.1f} {middle + 4 * unit:.1f}z"
        yield Path(head, fill=INK_2)
        text = _("needs a version of")
        yield TextMark(x=x + 38 * unit, y=foot, text=text, style=style, fill=INK_2)
        x += (38 + 26) * unit + width_of(text, style)
    sample = Style(13 * unit, mono=True)
    if any(placed.box.requires for row in rows for cell in row.row.cells for placed in cell.placed):
        yield TextMark(x=x, y=foot, text="2.15", style=sample, fill=INK_2)
        text = _("newest release, or what others need of it (≥)")
        yield TextMark(x=x + 10 * unit + width_of("2.15", sample), y=foot, text=text, style=style, fill=INK_2)
