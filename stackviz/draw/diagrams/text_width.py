"""How wide a text is at most, and where it may be broken: for drawings made on the server, which knows no fonts.

The reader's system font is not known either, so the widths are those of a wide one (DejaVu Sans, in hundredths of the
size): in a narrower font there is room to spare, in none is a text cut. Pure: the standard library only.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# From the blank to the tilde.
_REGULAR = (
    32, 40, 46, 84, 64, 95, 78, 30, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 30, 30, 58, 30, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
)  # fmt: skip
_BOLD = (
    35, 46, 52, 84, 70, 100, 87, 31, 46, 46, 52, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70,
    70, 70, 40, 40, 84, 84, 84, 58, 100, 77, 76, 73, 83, 68, 68, 82, 84, 37, 37, 77, 64, 100, 84, 85,
    73, 85, 77, 72, 68, 81, 77, 110, 77, 72, 73, 46, 37, 46, 84, 50, 50, 67, 72, 59, 72, 68, 44, 72,
    71, 34, 34, 67, 34, 104, 71, 69, 72, 72, 49, 60, 48, 71, 65, 92, 65, 65, 58, 71, 37, 71, 84,
)  # fmt: skip
_MONO, _WIDE, _OTHER = 61, 101, 90
_BREAKS_AFTER = " -/_;:+=·\u200b"
_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Style:
    """How a text is set: its size in units of the drawing, and its cut."""

    size: float
    bold: bool = False
    mono: bool = False


def printable_line(text: str) -> str:
    """The text on one line, without what XML forbids or what turns the direction of reading."""
    allowed = (" " if _is_blank(sign) else sign for sign in text if sign not in _DIRECTIONS)
    return " ".join("".join(allowed).split())


def _is_blank(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or sign in "\ufffe\uffff"


def width_of(text: str, style: Style) -> float:
    """At most how wide the text is."""
    return sum(_hundredths(sign, style) for sign in text) * style.size / 100


@lru_cache(maxsize=4096)
def _hundredths(sign: str, style: Style) -> int:
    index = ord(sign) - ord(" ")
    if unicodedata.combining(sign):
        return 0
    if unicodedata.east_asian_width(sign) in "WF":
        return _WIDE if ord(sign) < 0x1F000 else 140
    if style.mono:
        return _MONO if 0 <= index < len(_REGULAR) else _OTHER
    widths = _BOLD if style.bold else _REGULAR
    return widths[index] if 0 <= index < len(widths) else _OTHER


def lines_of(text: str, width: float, style: Style, most: int = 0) -> list[str]:
    """The text in lines of at most this width. Broken after blanks and signs; a word too long, anywhere.

    `most` lines at most, if given: the last one then ends in an ellipsis. No line for an empty text.
    """
    lines: list[str] = []
    line = ""
    for piece in _pieces(printable_line(text)):
        if width_of((line + piece).rstrip(), style) <= width:
            line += piece
            continue
        if line:
            lines.append(line.rstrip())
        line = piece
        while width_of(line.rstrip(), style) > width and len(line) > 1:
            cut = _fitting(line, width, style)
            lines.append(line[:cut])
            line = line[cut:]
    if line.strip():
        lines.append(line.rstrip())
    if most and len(lines) > most:
        return [*lines[: most - 1], _shortened(lines[most - 1], width, style)]
    return lines


def _pieces(text: str) -> list[str]:
    """What must not be torn apart: words up to a sign after which a line may end, and every wide character."""
    pieces: list[str] = []
    start = 0
    for index, sign in enumerate(text):
        if sign in _BREAKS_AFTER or unicodedata.east_asian_width(sign) in "WF":
            pieces.append(text[start : index + 1])
            start = index + 1
    return [*pieces, text[start:]] if start < len(text) else pieces


def _fitting(text: str, width: float, style: Style) -> int:
    """How many signs of the text go into the width; at least one."""
    used = 0.0
    for index, sign in enumerate(text):
        used += width_of(sign, style)
        if used > width:
            return max(1, index)
    return len(text)


def _shortened(line: str, width: float, style: Style) -> str:
    while line and width_of(line + "…", style) > width:
        line = line[:-1]
    return line.rstrip() + "…"
