"""A picture of a page: its content as plain data, and the PNG of 1200 by 630 that services show beside a link.

Words are English: who fetches previews names no language. The fonts come from an installed package; Source Sans Pro has
no Chinese characters, and `readable` says whether it can draw a text.
"""

import importlib.resources
import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from stackviz.draw import colours
from stackviz.draw.colours import GREY, Hue

_FILES = {False: "SourceSansPro-Regular.ttf", True: "SourceSansPro-Semibold.ttf"}
_NO_GLYPH = "\U000ffffe"  # a character of no font


@lru_cache(maxsize=64)
def _font(size: int, *, is_bold: bool) -> ImageFont.FreeTypeFont:
    path = importlib.resources.files("font_source_sans_pro").joinpath("files", _FILES[is_bold])
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=2048)
def _has_glyph(character: str) -> bool:
    font = _font(40, is_bold=False)
    return character.isspace() or bytes(font.getmask(character)) != bytes(font.getmask(_NO_GLYPH))


def readable(text: str, otherwise: str = "") -> str:
    """The text if every character of it can be drawn, else the other one."""
    return text if text and all(map(_has_glyph, text[:400])) else otherwise


class Canvas:
    """A picture in the making. Sizes and places in pixels; colours as `#rrggbb`."""

    def __init__(self, width: int, height: int, background: str) -> None:
        self.image = Image.new("RGB", (width, height), background)
        self._draw = ImageDraw.Draw(self.image)

    def box(self, area: tuple[float, float, float, float], colour: str, radius: int = 0, line: str = "") -> None:
        """A filled rectangle (left, top, right, bottom), its corners round, with an outline in `line`."""
        self._draw.rounded_rectangle(area, radius, fill=colour, outline=line or None)

    def text(
        self,
        point: tuple[float, float],
        text: str,
        size: int,
        colour: str,
        *,
        width: float,
        is_bold: bool = False,
        is_right: bool = False,
    ) -> float:
        """One line on its baseline, cut with an ellipsis to fit `width`; returns how wide it is."""
        shown = self.fitted(text, size, width, is_bold=is_bold)
        font = _font(size, is_bold=is_bold)
        self._draw.text(point, shown, font=font, fill=colour, anchor="rs" if is_right else "ls")
        return font.getlength(shown)

    def fitted(self, text: str, size: int, width: float, *, is_bold: bool = False) -> str:
        """The text, cut with an ellipsis where it is wider than `width`."""
        font = _font(size, is_bold=is_bold)
        shown = " ".join(text.split())[:400]
        if font.getlength(shown) <= width:
            return shown
        low, high = 0, len(shown)
        while low < high:
            middle = (low + high + 1) // 2
            if font.getlength(shown[:middle].rstrip() + "…") <= width:
                low = middle
            else:
                high = middle - 1
        return shown[:low].rstrip(" ,;:·") + "…"

    def wrapped(self, text: str, size: int, width: float, most: int, *, is_bold: bool = False) -> list[str]:
        """The text in at most `most` lines; the last one is cut with an ellipsis."""
        font = _font(size, is_bold=is_bold)
        lines: list[str] = []
        words = text[:600].split()
        while words and len(lines) < most - 1:
            line = words.pop(0)
            while words and font.getlength(f"{line} {words[0]}") <= width:
                line += " " + words.pop(0)
            lines.append(self.fitted(line, size, width, is_bold=is_bold))
        if words:
            lines.append(self.fitted(" ".join(words), size, width, is_bold=is_bold))
        return lines

    def largest_fit(self, text: str, sizes: tuple[int, ...], width: float) -> int:
        """The first of these sizes at which the bold text fits; the last one if none does."""
        return next((size for size in sizes if _font(size, is_bold=True).getlength(text) <= width), sizes[-1])


MOST_TILES = 6
MOST_BARS = 8  # of a ranking
MOST_LINES = 5


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
    """`kind`: of what, in a word or two; `lead`: the answer in a sentence. Then tiles, bars or lines."""

    kind: str
    title: str
    lead: str
    tiles: tuple[PictureTile, ...] = ()
    bars: tuple[PictureBar, ...] = ()
    lines: tuple[PictureLine, ...] = ()


def of_largest(amounts: Sequence[float | None]) -> list[float | None]:
    """Each amount as a share of the largest; None stays None."""
    largest = max((amount for amount in amounts if amount is not None), default=0.0)
    return [amount / largest if amount is not None and largest > 0 else None for amount in amounts]


WIDTH, HEIGHT = 1200, 630
LEFT, RIGHT = 56, WIDTH - 56
TOP, BOTTOM = 254, 578  # of what stands below the lead
GAP = 20
BACKGROUND, SURFACE, SUNKEN, INK, INK_2, INK_3, LINE = (
    shade.light
    for shade in (
        colours.BG, colours.SURFACE, colours.SUNKEN, colours.INK, colours.INK_2, colours.INK_3, colours.LINE
    )
)  # fmt: skip
LAYERS = (INK, INK_2, colours.EDGE.light)
SEVERITIES = {"broken": colours.BAD.light, "warning": colours.WARN.light, "note": INK_2, "good": INK}

_drawing = threading.Lock()  # one at a time in a process: a flood of requests leaves the other threads to pages


def draw_png(picture: Picture) -> bytes:
    """The picture as a PNG file."""
    with _drawing:
        canvas = Canvas(WIDTH, HEIGHT, BACKGROUND)
        _frame(canvas, picture)
        _heading(canvas, picture)
        if picture.tiles:
            _tiles(canvas, picture.tiles[:MOST_TILES])
        elif picture.bars:
            _ranking(canvas, picture.bars[:MOST_BARS])
        else:
            _lines(canvas, picture.lines[:MOST_LINES])
        out = io.BytesIO()
        canvas.image.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
            out, "PNG", compress_level=3
        )
        return out.getvalue()


def _frame(canvas: Canvas, picture: Picture) -> None:
    for row, layer in enumerate(LAYERS):
        canvas.box((LEFT, 44 + 13 * row, LEFT + 34, 53 + 13 * row), layer, 3)
    canvas.text((LEFT + 46, 74), "accelweb", 32, INK, width=300, is_bold=True)
    canvas.text((RIGHT, 74), picture.kind, 26, INK_2, width=600, is_right=True)
    canvas.box((0, HEIGHT - 10, WIDTH, HEIGHT), INK)


def _heading(canvas: Canvas, picture: Picture) -> None:
    width = RIGHT - LEFT
    size = canvas.largest_fit(picture.title, (58, 50, 44, 38), width)
    canvas.text((LEFT, 152), picture.title, size, INK, width=width, is_bold=True)
    for row, text in enumerate(canvas.wrapped(picture.lead, 29, width, 2)):
        canvas.text((LEFT, 195 + 35 * row), text, 29, INK_2, width=width)


def _tiles(canvas: Canvas, tiles: Sequence[PictureTile]) -> None:
    columns = 2 if len(tiles) in (2, 4) else min(3, len(tiles))
    rows = -(-len(tiles) // columns)
    width = (RIGHT - LEFT - GAP * (columns - 1)) / columns
    height = (BOTTOM - TOP - GAP * (rows - 1)) / rows
    for index, tile in enumerate(tiles):
        left = LEFT + (index % columns) * (width + GAP)
        top = TOP + (index // columns) * (height + GAP)
        canvas.box((left, top, left + width, top + height), SURFACE, 10, LINE)
        _tile(canvas, tile, (left + 18, top, width - 36, height))


def _tile(canvas: Canvas, tile: PictureTile, area: tuple[float, float, float, float]) -> None:
    left, top, width, height = area
    canvas.text((left, top + 33), tile.title, 22, INK_2, width=width)
    if tile.bars:
        step = (height - 48) / len(tile.bars)
        figures = 0.42 if any(", " in bar.text for bar in tile.bars if bar.share is not None) else 0.27
        for row, bar in enumerate(tile.bars):
            _bar(canvas, bar, (left, top + 42 + step * row, width, step), shares=(0.32, figures))
        return
    size = canvas.largest_fit(tile.figure, (48, 42, 36, 30, 26), width)
    canvas.text((left, top + height / 2 + 34), tile.figure, size, INK, width=width, is_bold=True)
    if tile.note:
        canvas.text((left, top + height - 14), tile.note, 20, INK_3, width=width)


def _ranking(canvas: Canvas, bars: Sequence[PictureBar]) -> None:
    step = min(56.0, (BOTTOM - TOP) / len(bars))
    for row, bar in enumerate(bars):
        _bar(canvas, bar, (LEFT, TOP + step * row, RIGHT - LEFT, step), shares=(0.34, 0.20))


def _bar(
    canvas: Canvas, bar: PictureBar, area: tuple[float, float, float, float], *, shares: tuple[float, float]
) -> None:
    """Name, bar and figure in a row; `shares`: of its width, the name's and the figure's.

    A bar for an unknown figure is not drawn, its text says why.
    """
    left, top, width, height = area
    size = max(15, min(25 if width > 700 else 21, int(height * 0.62)))
    base = top + height / 2 + size * 0.34
    names = width * shares[0]
    smaller = tuple(range(size, 14, -1))
    canvas.text((left, base), bar.name, canvas.largest_fit(bar.name, smaller, names - 12), INK, width=names - 12)
    if bar.share is None:
        size = canvas.largest_fit(bar.text, smaller, width - names)
        canvas.text((left + names, base), bar.text, size, INK_3, width=width - names)
        return
    figures = width * shares[1]
    most = width - names - figures
    thick = max(8.0, min(24.0, height * 0.5))
    top_of_bar = top + (height - thick) / 2
    canvas.box((left + names, top_of_bar, left + names + most, top_of_bar + thick), SUNKEN, 4)
    length = max(5.0, most * min(1.0, bar.share))
    canvas.box((left + names, top_of_bar, left + names + length, top_of_bar + thick), bar.hue.light, 4)
    size = canvas.largest_fit(bar.text, smaller, figures - 12)
    canvas.text((left + width, base), bar.text, size, INK, width=figures - 12, is_bold=True, is_right=True)


def _lines(canvas: Canvas, lines: Sequence[PictureLine]) -> None:
    for row, line in enumerate(lines):
        top = TOP + 4 + 62 * row
        ink = SEVERITIES.get(line.severity, INK_3)
        canvas.box((LEFT, top, RIGHT, top + 52), SURFACE, 8, LINE)
        canvas.box((LEFT, top, LEFT + 10, top + 52), ink, 4)
        start: float = LEFT + 28
        if line.severity:
            start += canvas.text((start, top + 35), line.severity, 25, ink, width=130, is_bold=True) + 16
        canvas.text((start, top + 35), line.text, 25, INK, width=RIGHT - start - 18)
