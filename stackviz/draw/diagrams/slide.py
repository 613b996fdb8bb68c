"""The sheet of a picture that is passed on: a card of 1200 by 630 for posts, or a slide of 16:9, with title and foot.

A text is set as large as its place allows, in more lines or smaller, and never cut. Pure: no ORM, no request.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.draw import colours
from stackviz.draw.diagrams.svg_marks import EDGE, INK, INK_2, PAPER, Mark, Path, Rect, TextMark
from stackviz.draw.diagrams.text_width import Style, lines_of, width_of

GROUND = colours.BG.light
LEADING = 1.2  # of the size, from line to line
TERMS = "/data/#terms"


@dataclass(frozen=True)
class PictureSize:
    """`unit`: what a pixel of the card's type is here."""

    width: float
    height: float
    margin: float
    unit: float

    @property
    def inside(self) -> float:
        return self.width - 2 * self.margin


CARD, SLIDE = PictureSize(1200, 630, 40, 1.0), PictureSize(1600, 900, 64, 1.36)


@dataclass(frozen=True, kw_only=True)
class Caption:
    """What a picture says of itself. `address`: of its page, without the scheme, "" for none; `day`: 2026-11-29."""

    title: str
    lead: str = ""
    address: str = ""
    day: str = ""


@dataclass(frozen=True)
class Fitted:
    """A text in lines of one style."""

    lines: tuple[str, ...]
    style: Style

    @property
    def leading(self) -> float:
        return self.style.size * LEADING

    @property
    def height(self) -> float:
        return len(self.lines) * self.leading

    @property
    def width(self) -> float:
        return max((width_of(line, self.style) for line in self.lines), default=0.0)

    def marks(self, x: float, top: float, fill: str = INK, *, is_right: bool = False) -> list[Mark]:
        """Below each other from `top` on; `x`: their left edge, or the right one."""
        foot = top + self.style.size * 0.95
        return [
            TextMark(
                x=x,
                y=foot + index * self.leading,
                text=line,
                style=self.style,
                fill=fill,
                anchor="end" if is_right else "start",
            )
            for index, line in enumerate(self.lines)
        ]


def fitted(text: str, width: float, height: float, style: Style, least: float) -> Fitted:
    """The whole text within `width`, as large as `height` allows: from the style's size down to `least` of it.

    The smallest size may take more height than there is: a long name is never cut.
    """
    steps = 12
    for step in range(steps + 1):
        size = style.size * (1 - (1 - least) * step / steps)
        smaller = Style(round(size, 1), style.bold, style.mono)
        text_lines = Fitted(tuple(lines_of(text, width, smaller)), smaller)
        if text_lines.height <= height and not _is_torn(text, width, smaller):
            break
    return text_lines


def one_line_size(texts: Sequence[str], width: float, style: Style, least: float) -> Style:
    """The largest style at which each of the texts has one line; the smallest, `least` of it, where one has none."""
    widest = max((width_of(text, style) for text in texts), default=0.0)
    share = min(1.0, max(least, width / widest if widest else 1.0))
    return Style(int(style.size * share * 10) / 10, style.bold, style.mono)


def _is_torn(text: str, width: float, style: Style) -> bool:
    """Whether a word is wider than the line, so that it would be broken anywhere."""
    return any(width_of(part, style) > width for part in text.split())


@dataclass(frozen=True)
class Sheet:
    """The marks around a picture, and where it may draw."""

    marks: tuple[Mark, ...]
    top: float
    bottom: float


def sheet_of(page: PictureSize, caption: Caption, title: Style) -> Sheet:
    """The title, its lead, and the foot: who drew it, where it is, of which day, on which terms."""
    unit, left = page.unit, page.margin
    bold = Style(title.size * unit, bold=True)
    head = fitted(caption.title, page.inside, 1.25 * bold.size, bold, 0.68)
    if len(head.lines) > 1:
        head = fitted(caption.title, page.inside, 2.5 * 0.8 * bold.size, Style(0.8 * bold.size, bold=True), 0.45)
    marks = head.marks(left, 0.68 * page.margin)
    top = 0.68 * page.margin + head.height
    if caption.lead:
        size = 0.46 * title.size * unit
        lead = fitted(caption.lead, page.inside, 2 * LEADING * size, Style(size), 0.62)
        marks += lead.marks(left, top + 3 * unit, INK_2)
        top += lead.height + 3 * unit
    foot = page.height - 0.55 * page.margin
    marks += _foot(page, caption, foot)
    return Sheet(tuple(marks), top + 10 * unit, foot - 26 * unit)


def _foot(page: PictureSize, caption: Caption, foot: float) -> list[Mark]:
    unit, left, right = page.unit, page.margin, page.width - page.margin
    name, small = Style(19 * unit, bold=True), Style(15 * unit)
    marks: list[Mark] = [
        Rect(x=left, y=foot - (15 - 5.5 * row) * unit, width=20 * unit, height=4 * unit, fill=fill, radius=1)
        for row, fill in enumerate((INK, INK_2, EDGE))
    ]
    marks.append(TextMark(x=left + 27 * unit, y=foot, text="accelweb", style=name))
    terms = _("free to reuse, name accelweb: %(terms)s") % {"terms": TERMS}
    note = " · ".join(filter(None, (caption.day, terms)))
    marks.append(TextMark(x=right, y=foot, text=note, style=small, fill=INK_2, anchor="end"))
    start = left + 27 * unit + width_of("accelweb", name) + 16 * unit
    room = right - width_of(note, small) - 20 * unit - start
    address = fitted(caption.address, room, small.size * LEADING, small, 0.6)
    if len(address.lines) > 1:  # of many subjects: the site alone, since half an address leads nowhere
        address = fitted(caption.address.partition("/")[0], room, small.size * LEADING, small, 0.6)
    return marks + address.marks(start, foot - address.style.size * 0.95, INK_2)


def hatched(x: float, y: float, width: float, height: float, pitch: float) -> list[Mark]:
    """A box of parallel strokes with a dashed edge: something that is not there."""
    strokes = []
    offset = pitch
    while offset < width + height:
        start = (x + min(offset, width), y + max(0.0, offset - width))
        end = (x + max(0.0, offset - height), y + min(offset, height))
        strokes.append(f"M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}")
        offset += pitch
    return [
        Rect(x=x, y=y, width=width, height=height, fill=PAPER, stroke=EDGE, radius=3, dash="4 3"),
        Path("".join(strokes), stroke=EDGE, width=0.8),
    ]
