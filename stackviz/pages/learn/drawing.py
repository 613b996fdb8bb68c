"""A drawing of a chapter: a picture, or bars that share an axis. Each says in words what it shows.

Pictures are 360 units wide, as a phone is, with texts of 11 and more: they are scaled up on wider screens, never down.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stackviz.base.discovery import modules_of
from stackviz.draw.diagrams.svg_marks import Sketch, svg_part
from stackviz.draw.diagrams.text_width import Style
from stackviz.pages.learn import drawings
from stackviz.records.catalog.queries import PublicCatalogue
from stackviz.web.parts import render_part

__all__ = ["SMALL", "STRONG", "WIDTH", "Bar", "BarGroup", "Bars", "LearnPicture", "all_drawings", "draw_drawing"]

WIDTH = 360.0
SMALL, STRONG = Style(11), Style(12, bold=True)


@dataclass(frozen=True, slots=True)
class LearnPicture:
    """`words`: what a reader who cannot see it should know."""

    sketch: Sketch
    words: str


@dataclass(frozen=True, slots=True)
class Bar:
    """`share`: of the axis, 0 to 1; `css`: classes of its colour; `url`: where the figure is from, or ""."""

    label: str
    text: str
    share: float
    css: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class BarGroup:
    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """`axis`: what a bar's length means, one for all groups."""

    axis: str
    groups: tuple[BarGroup, ...]


Drawing = LearnPicture | Bars


@cache
def all_drawings() -> Mapping[str, Callable[[PublicCatalogue], Drawing]]:
    """By name, of all modules of `drawings/`."""
    return dict(_declared())


def _declared() -> Iterable[tuple[str, Callable[[PublicCatalogue], Drawing]]]:
    for module in modules_of(drawings):
        yield from module.DRAWINGS.items()


def draw_drawing(name: str, caption: SafeString, catalogue: PublicCatalogue) -> SafeString:
    """The drawing in a `<figure>`. Raises KeyError for a name nobody declares."""
    drawing = all_drawings()[name](catalogue)
    if isinstance(drawing, Bars):
        body = render_part("learn/_bars.jinja", bars=drawing)
    else:
        picture = SafeString(svg_part(drawing.sketch))  # every text in it is escaped
        body = format_html('<div class="picture" role="img" aria-label="{}">{}</div>', drawing.words, picture)
    return format_html('<figure class="drawing" id="{}">{}<figcaption>{}</figcaption></figure>\n', name, body, caption)
