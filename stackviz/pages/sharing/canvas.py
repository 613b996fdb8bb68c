"""A sketch as PNG. Pillow sets the texts in Source Sans Pro, from an installed package: a slim container has no fonts.

It has no Chinese characters: these are set in the first font of `CHINESE` that the system has, if it has one, and
`readable` says whether a text can be drawn.
"""

import importlib.resources
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import groupby

from PIL import Image, ImageDraw, ImageFont

from stackviz.draw.diagrams.svg_marks import Circle, Mark, Path, Rect, Sketch, TextMark
from stackviz.draw.diagrams.text_width import Style, printable_line, width_of

_FILES = {False: "SourceSansPro-Regular.ttf", True: "SourceSansPro-Semibold.ttf"}
# As Debian, Fedora and Arch call them; Pillow looks for the names in the system's folders.
CHINESE = (
    "NotoSansCJK-Regular.ttc", "NotoSansSC-Regular.otf", "DroidSansFallbackFull.ttf", "DroidSansFallback.ttf",
    "wqy-microhei.ttc", "wqy-zenhei.ttc", "uming.ttc",
)  # fmt: skip
_NO_GLYPH = "\U000ffffe"  # a character of no font
_LARGER = 1.1  # Source Sans is narrower than the font that texts are measured in
_FINER = 2  # shapes are drawn so many times as large, and made smaller
_NUMBER = re.compile(r"-?[\d.]+")
_COMMAND = re.compile(r"([MLHVz])([^MLHVz]*)")
_Point = tuple[float, float]


def png_of(sketch: Sketch) -> bytes:
    """The sketch as a file."""
    large = Image.new("RGB", (round(sketch.width * _FINER), round(sketch.height * _FINER)), "#ffffff")
    draw = ImageDraw.Draw(large)
    for mark in sketch.marks:
        if not isinstance(mark, TextMark):
            _draw_shape(draw, _enlarged(mark))
    image = large.reduce(_FINER)
    draw = ImageDraw.Draw(image)
    for mark in sketch.marks:
        if isinstance(mark, TextMark):
            _draw_text(draw, mark)
    out = io.BytesIO()
    few = image.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(out, "PNG", compress_level=6)
    return out.getvalue()


def _enlarged(mark: Mark) -> Mark:
    """The shape in the pixels that it is drawn in before it is made smaller, so that its edges are smooth."""
    match mark:
        case Rect(x=x, y=y, width=width, height=height, radius=radius):
            x, y, width, height, radius = (_FINER * length for length in (x, y, width, height, radius))
            return replace(mark, x=x, y=y, width=width, height=height, radius=radius)
        case Circle(x=x, y=y, radius=radius):
            return replace(mark, x=x * _FINER, y=y * _FINER, radius=radius * _FINER)
        case Path(d=d, width=width):
            return replace(mark, d=_NUMBER.sub(_enlarged_number, d), width=width * _FINER)
    raise TypeError(f"a picture holds no {type(mark).__name__}")


def _enlarged_number(number: re.Match[str]) -> str:
    return f"{float(number[0]) * _FINER:.1f}"


def _draw_shape(draw: ImageDraw.ImageDraw, mark: Mark) -> None:
    match mark:
        case Rect():
            _draw_box(draw, mark)
        case Circle(x=x, y=y, radius=radius):
            outline = None if mark.stroke == "none" else mark.stroke
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), _ink(mark.fill), outline)
        case Path():
            for points in _lines(mark.d):
                if mark.fill != "none":
                    draw.polygon(points, fill=mark.fill)
                if mark.stroke != "none":
                    draw.line(points, fill=mark.stroke, width=max(1, round(mark.width)))


def _ink(colour: str) -> str | None:
    return None if colour == "none" else colour


def _draw_box(draw: ImageDraw.ImageDraw, box: Rect) -> None:
    area = (box.x, box.y, box.x + max(box.width - 1, 0), box.y + max(box.height - 1, 0))
    outline = None if box.dash else _ink(box.stroke)
    draw.rounded_rectangle(area, box.radius, fill=_ink(box.fill), outline=outline, width=_FINER)
    if box.dash and box.stroke != "none":
        left, top, right, bottom = area
        for start, end in (
            ((left, top), (right, top)), ((right, top), (right, bottom)), ((right, bottom), (left, bottom)),
            ((left, bottom), (left, top)),
        ):  # fmt: skip
            _draw_dashes(draw, start, end, box.stroke)


def _draw_dashes(draw: ImageDraw.ImageDraw, start: _Point, end: _Point, colour: str) -> None:
    length = abs(end[0] - start[0]) + abs(end[1] - start[1])
    x, y = ((end[0] - start[0]) / (length or 1), (end[1] - start[1]) / (length or 1))
    for at in range(0, round(length), 7 * _FINER):
        to = min(at + 4 * _FINER, length)
        line = (start[0] + x * at, start[1] + y * at, start[0] + x * to, start[1] + y * to)
        draw.line(line, fill=colour, width=_FINER)


def _lines(d: str) -> Iterator[list[_Point]]:
    """The lines of a path of absolute M, L, H, V and z. Raises ValueError for what is none."""
    points: list[_Point] = []
    for command, text in _COMMAND.findall(d):
        numbers = [float(number) for number in text.split()]
        if command == "M" and points:
            yield points
            points = []
        if command in ("M", "L"):
            points.append((numbers[0], numbers[1]))
        elif command == "H":
            points.append((numbers[0], points[-1][1]))
        elif command == "V":
            points.append((points[-1][0], numbers[0]))
    if points:
        yield points


# --- texts ---


@lru_cache(maxsize=128)
def _font(size: float, *, is_bold: bool) -> ImageFont.FreeTypeFont:
    path = importlib.resources.files("font_source_sans_pro").joinpath("files", _FILES[is_bold])
    return ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def _chinese_file() -> str:
    """The name of the first font that the system has; "" where it has none."""
    for name in CHINESE:
        try:
            ImageFont.truetype(name, 12)
        except OSError:
            continue
        return name
    return ""


@lru_cache(maxsize=32)
def _chinese_font(name: str, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(name, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    return character.isspace() or _is_in(_font(40, is_bold=False), character)


@lru_cache(maxsize=4096)
def _is_chinese_glyph(character: str) -> bool:
    name = _chinese_file()
    return bool(name) and _is_in(_chinese_font(name, 40), character)


def _is_in(font: ImageFont.FreeTypeFont, character: str) -> bool:
    return bytes(font.getmask(character)) != bytes(font.getmask(_NO_GLYPH))


def readable(text: str, otherwise: str = "") -> str:
    """The text if every character of it can be drawn, else the other one."""
    can_be_drawn = (_has_glyph(character) or _is_chinese_glyph(character) for character in text[:400])
    return text if text and all(can_be_drawn) else otherwise


def _runs(text: str, size: float, *, is_bold: bool) -> list[tuple[str, ImageFont.FreeTypeFont]]:
    """The text in parts of one font."""
    latin, name = _font(size, is_bold=is_bold), _chinese_file()
    return [
        ("".join(run), latin if is_latin or not name else _chinese_font(name, size))
        for is_latin, run in groupby(text, _has_glyph)
    ]


def _draw_text(draw: ImageDraw.ImageDraw, mark: TextMark) -> None:
    """Larger than its style says, as far as it is no wider than it was measured."""
    text, style = printable_line(mark.text), mark.style
    size = round(style.size * _LARGER, 1)
    length = _length(text, size, style)
    measured = width_of(text, style)
    if length > measured > 0:
        size = max(1.0, round(size * measured / length - 0.05, 1))
    runs = _runs(text, size, is_bold=style.bold)
    length = sum(font.getlength(run) for run, font in runs)
    x = mark.x - {"start": 0.0, "middle": length / 2, "end": length}[mark.anchor]
    for run, font in runs:
        draw.text((x, mark.y), run, font=font, fill=mark.fill, anchor="ls")
        x += font.getlength(run)


def _length(text: str, size: float, style: Style) -> float:
    return sum(font.getlength(run) for run, font in _runs(text, size, is_bold=style.bold))
