"""Text and shapes on a picture, with the fonts of an installed package: a slim container has none of its own.

Source Sans Pro has no Chinese characters: `readable` says whether it can draw a text, so that nobody sees boxes.
"""

import importlib.resources
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

__all__ = ["Canvas", "readable"]

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
