"""A picture of a page: its content as plain data, and the sketch of it on a card or a slide.

Words are English: who fetches previews names no language.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stackviz.draw import colours
from stackviz.draw.colours import GREY, Hue
from stackviz.draw.diagrams.drawing import StackDrawing
from stackviz.draw.diagrams.slide import (
    GROUND,
    SLIDE,
    Caption,
    Fitted,
    PictureSize,
    Sheet,
    fitted,
    one_line_size,
    sheet_of,
)
from stackviz.draw.diagrams.stack_slide import stack_sketch
from stackviz.draw.diagrams.svg_marks import INK, INK_2, INK_3, PAPER, Mark, Rect, Sketch, TextMark, svg_text
from stackviz.draw.diagrams.text_width import Style, width_of

MOST_TILES = 6
MOST_BARS = 8  # of a ranking
MOST_LINES = 5
MOST_STACKED = 3  # bars of a tile below their names
LINE, SUNKEN = colours.LINE.light, colours.SUNKEN.light
SEVERITIES = {"broken": colours.BAD.light, "warning": colours.WARN.light, "note": INK_2, "good": INK}


@dataclass(frozen=True, slots=True)
class PictureBar:
    """`share`: of the longest bar, None where the figure is unknown."""

    name: str
    text: str
    share: float | None
    hue: Hue = GREY

    @property
    def percent(self) -> str:
        """Of the longest bar, as text for CSS."""
        return f"{100 * min(1.0, self.share or 0.0):.1f}"


@dataclass(frozen=True, slots=True)
class PictureTile:
    """A figure with its title, or one bar for each subject."""

    title: str
    figure: str = ""
    bars: tuple[PictureBar, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A sentence with its severity: "broken", "warning", "note", "good" or ""."""

    severity: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """`kind`: of what, in a word or two; `lead`: the answer in a sentence. Then stacks, tiles, bars or lines.

    `address`: of the page, without the scheme; `day`: 2026-11-29.
    """

    kind: str
    title: str
    lead: str
    stacks: StackDrawing | None = None
    tiles: tuple[PictureTile, ...] = ()
    bars: tuple[PictureBar, ...] = ()
    lines: tuple[PictureLine, ...] = ()
    address: str = ""
    day: str = ""

    @property
    def has_stacks(self) -> bool:
        return self.stacks is not None and bool(self.stacks.columns)

    @property
    def caption(self) -> Caption:
        return Caption(title=self.title, lead=self.lead, address=self.address, day=self.day)


def of_largest(amounts: Sequence[float | None]) -> list[float | None]:
    """Each amount as a share of the largest; None stays None."""
    largest = max((amount for amount in amounts if amount is not None), default=0.0)
    return [amount / largest if amount is not None and largest > 0 else None for amount in amounts]


def sketch_of(picture: Picture, page: PictureSize) -> Sketch:
    """The picture on a page of this size."""
    if picture.stacks is not None and picture.has_stacks:
        return stack_sketch(picture.stacks, page, picture.caption)
    sheet = sheet_of(page, picture.caption, Style(52))
    marks: list[Mark] = [Rect(x=0, y=0, width=page.width, height=page.height, fill=GROUND), *sheet.marks]
    if picture.tiles:
        marks += _tiles(picture.tiles[:MOST_TILES], page, sheet)
    elif picture.bars:
        marks += _ranking(picture.bars[:MOST_BARS], page, sheet)
    else:
        marks += _lines(picture.lines[:MOST_LINES], page, sheet)
    return Sketch(page.width, page.height, tuple(marks))


def slide_svg(picture: Picture) -> str:
    """The picture as a file for a slide of 16:9."""
    described = picture.stacks.in_words if picture.stacks is not None else picture.lead
    return svg_text(sketch_of(picture, SLIDE), picture.title, described)


@dataclass(frozen=True)
class _Area:
    left: float
    top: float
    width: float
    height: float


def _tiles(tiles: Sequence[PictureTile], page: PictureSize, sheet: Sheet) -> Iterator[Mark]:
    columns = 2 if len(tiles) in (2, 4) else min(3, len(tiles))
    rows, gap = -(-len(tiles) // columns), 16 * page.unit
    width = (page.inside - gap * (columns - 1)) / columns
    height = (sheet.bottom - sheet.top - gap * (rows - 1)) / rows
    pairs = [f"{bar.name}  {bar.text}" for tile in tiles for bar in tile.bars if bar.share is not None]
    bold = one_line_size(pairs, width - 32 * page.unit, Style(25 * page.unit, bold=True), 0.62)
    style = Style(bold.size)
    for index, tile in enumerate(tiles):
        left = page.margin + (index % columns) * (width + gap)
        top = sheet.top + (index // columns) * (height + gap)
        yield Rect(x=left, y=top, width=width, height=height, fill=PAPER, stroke=LINE, radius=4 * page.unit)
        yield from _tile(tile, _Area(left, top, width, height), page.unit, style)


def _tile(tile: PictureTile, area: _Area, unit: float, stacked: Style) -> Iterator[Mark]:
    """`stacked`: of the names of few bars, the same in all tiles."""
    pad = 16 * unit
    inside = area.width - 2 * pad
    title = fitted(tile.title, inside, 1.3 * 20 * unit, Style(20 * unit), 0.6)
    yield from title.marks(area.left + pad, area.top + 10 * unit, INK_2)
    top = area.top + 10 * unit + title.height + 4 * unit
    room = area.top + area.height - 8 * unit - top
    if 0 < len(tile.bars) <= MOST_STACKED:
        yield from _stacked_bars(tile.bars, _Area(area.left + pad, top, inside, room), unit, stacked)
        return
    if tile.bars:
        figures = 0.46 if any(", " in bar.text for bar in tile.bars if bar.share is not None) else 0.3
        area_of_bars = _Area(area.left + pad, top, inside, room)
        yield from _bars(tile.bars, area_of_bars, unit, names=0.36, figures=figures)
        return
    most = room * (0.7 if tile.note else 1)
    style = one_line_size([tile.figure], inside, Style(min(48 * unit, most * 0.6), bold=True), 0.5)
    figure = fitted(tile.figure, inside, most, style, 0.6)
    yield from figure.marks(area.left + pad, top + (most - figure.height) / 2)
    if tile.note:
        note = fitted(tile.note, inside, room * 0.3, Style(17 * unit), 0.6)
        yield from note.marks(area.left + pad, area.top + area.height - 8 * unit - note.height, INK_3)


def _ranking(bars: Sequence[PictureBar], page: PictureSize, sheet: Sheet) -> Iterator[Mark]:
    height = min(64 * page.unit * len(bars), sheet.bottom - sheet.top)
    area_of_bars = _Area(page.margin, sheet.top, page.inside, height)
    yield from _bars(bars, area_of_bars, page.unit, names=0.36, figures=0.2)


def _bars(bars: Sequence[PictureBar], area: _Area, unit: float, *, names: float, figures: float) -> Iterator[Mark]:
    """A row for each: name, bar and figure; `names`, `figures`: their shares of the width. Names have one size.

    A bar for an unknown figure is not drawn, its text says why.
    """
    step = area.height / len(bars)
    style, pad = Style(max(12 * unit, min(27 * unit, step * 0.62))), 12 * unit
    name_style = one_line_size([bar.name for bar in bars], area.width * names - pad, style, 0.68)
    known = [bar.text for bar in bars if bar.share is not None]
    figure_style = one_line_size(known, area.width * figures - pad, Style(style.size, bold=True), 0.6)
    start, most = area.left + area.width * names, area.width * (1 - names - figures)
    thick = max(8 * unit, min(26 * unit, step * 0.5))
    for row, bar in enumerate(bars):
        line = _Area(area.left, area.top + step * row, area.width, step)
        name = fitted(bar.name, area.width * names - pad, step, name_style, 0.6)
        yield from name.marks(area.left, _middle(line, name))
        if bar.share is None:
            text = fitted(bar.text, area.width * (1 - names), step, Style(0.9 * style.size), 0.5)
            yield from text.marks(start, _middle(line, text), INK_3)
            continue
        top = line.top + (step - thick) / 2
        yield Rect(x=start, y=top, width=most, height=thick, fill=SUNKEN, radius=2)
        length = max(5 * unit, most * min(1.0, bar.share))
        yield Rect(x=start, y=top, width=length, height=thick, fill=bar.hue.light, radius=2)
        figure = fitted(bar.text, area.width * figures - pad, step, figure_style, 0.6)
        yield from figure.marks(area.left + area.width, _middle(line, figure), is_right=True)


def _stacked_bars(bars: Sequence[PictureBar], area: _Area, unit: float, style: Style) -> Iterator[Mark]:
    """A bar below its name and figure, where there is room for names as large as figures."""
    step = area.height / len(bars)
    for row, bar in enumerate(bars):
        figure = fitted(bar.text, area.width * 0.6, step * 0.6, Style(style.size, bold=bar.share is not None), 0.7)
        name = fitted(bar.name, area.width - figure.width - 10 * unit, step * 0.6, style, 0.7)
        height = max(name.height, figure.height)
        thick = min(20 * unit, max(6 * unit, step - height - 14 * unit))
        top = area.top + step * row + max(0.0, (step - height - thick - 3 * unit) / 2)
        yield from name.marks(area.left, top)
        ink = INK_3 if bar.share is None else INK
        yield from figure.marks(area.left + area.width, top, ink, is_right=True)
        if bar.share is None:
            continue
        y = top + height + 3 * unit
        yield Rect(x=area.left, y=y, width=area.width, height=thick, fill=SUNKEN, radius=2)
        length = max(5 * unit, area.width * min(1.0, bar.share))
        yield Rect(x=area.left, y=y, width=length, height=thick, fill=bar.hue.light, radius=2)


def _middle(area: _Area, text: Fitted) -> float:
    return area.top + (area.height - text.height) / 2


def _lines(lines: Sequence[PictureLine], page: PictureSize, sheet: Sheet) -> Iterator[Mark]:
    unit = page.unit
    step = min(66 * unit, (sheet.bottom - sheet.top) / max(1, len(lines)))
    for row, line in enumerate(lines):
        top, height = sheet.top + step * row, step - 8 * unit
        ink = SEVERITIES.get(line.severity, INK_3)
        yield Rect(x=page.margin, y=top, width=page.inside, height=height, fill=PAPER, stroke=LINE, radius=4)
        yield Rect(x=page.margin, y=top, width=8 * unit, height=height, fill=ink)
        start, style = page.margin + 26 * unit, Style(23 * unit, bold=True)
        if line.severity:
            foot = top + height / 2 + style.size * 0.34
            yield TextMark(x=start, y=foot, text=line.severity, style=style, fill=ink)
            start += width_of(line.severity, style) + 16 * unit
        text = fitted(line.text, page.width - page.margin - 14 * unit - start, height, Style(23 * unit), 0.5)
        yield from text.marks(start, top + (height - text.height) / 2)
