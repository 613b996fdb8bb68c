"""Marks on paper -> SVG: rectangles, paths and texts, with the colours of the site for a page in print.

The texts go in as they are and come out escaped. Every mark has its colours and its typeface with it, on a ground of
its own, so that the file looks the same in a light viewer, in a dark one, and in an office program that reads no style
sheets. Pure: the standard library only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from stackviz.draw import colours
from stackviz.draw.diagrams.text_width import Style, printable_line

SANS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', "
    "sans-serif"
)
MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
PAPER, INK, INK_2, INK_3, LINE, EDGE, WARN, BAD = (
    shade.light
    for shade in (
        colours.SURFACE, colours.INK, colours.INK_2, colours.INK_3, colours.LINE, colours.EDGE, colours.WARN,
        colours.BAD,
    )
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Rect:
    """`stroke` and `dash` as in SVG; "none" for nothing."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "none"
    stroke: str = "none"
    radius: float = 0
    dash: str = ""
    opacity: float = 1


@dataclass(frozen=True)
class Path:
    """`d` as in SVG."""

    d: str
    stroke: str = "none"
    width: float = 1
    dash: str = ""
    fill: str = "none"


@dataclass(frozen=True, kw_only=True)
class Circle:
    """`width`: of its line."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str = "none"
    width: float = 1
    opacity: float = 1


@dataclass(frozen=True, kw_only=True)
class TextMark:
    """One line, its foot at `y`."""

    x: float
    y: float
    text: str
    style: Style
    fill: str = INK
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """`d` as in SVG around the origin, drawn at `x`, `y`."""

    x: float
    y: float
    d: str
    stroke: str
    width: float
    fill: str


@dataclass(frozen=True)
class Linked:
    """Marks that lead to `url`, for a page that has the same link in words: no key stops here."""

    url: str
    marks: "tuple[Mark, ...]"


Mark = Rect | Path | Circle | TextMark | Shape | Linked


@dataclass(frozen=True)
class Sketch:
    """What is drawn, on a ground of this size."""

    width: float
    height: float
    marks: tuple[Mark, ...]


def svg_number(value: float) -> str:
    """A length as SVG writes it, in no locale: 12, 12.5."""
    return f"{value:.1f}".removesuffix(".0")


def svg_text(sketch: Sketch, title: str, description: str) -> str:
    """Return the sketch as a file."""
    width, height = svg_number(sketch.width), svg_number(sketch.height)
    ground = _written(Rect(x=0, y=0, width=sketch.width, height=sketch.height, fill=PAPER))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    read_as = 'role="img" aria-labelledby="title description"'
    return "\n".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {read_as} font-family="{_text(SANS)}">',
            f'<title id="title">{_text(title)}</title>',
            f'<desc id="description">{_text(description)}</desc>',
            ground,
            *map(_written, sketch.marks),
            "</svg>\n",
        )
    )


def svg_part(sketch: Sketch) -> str:
    """Return the same for a page, which describes it in words; it takes the page's colours."""
    width, height = svg_number(sketch.width), svg_number(sketch.height)
    marks = "".join(map(_written, sketch.marks))
    for colour, name in _OF_THE_PAGE.items():
        marks = marks.replace(f'"{colour}"', f'"var({name})"')
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">{marks}</svg>'


_OF_THE_PAGE = {
    PAPER: "--surface",
    INK: "--ink",
    INK_2: "--ink-2",
    INK_3: "--ink-3",
    LINE: "--line",
    EDGE: "--edge",
    WARN: "--warn",
    BAD: "--bad",
}


def _written(mark: Mark) -> str:
    match mark:
        case Rect():
            position = _attributes(x=mark.x, y=mark.y, width=mark.width, height=mark.height, rx=mark.radius)
            look = f'fill="{mark.fill}"{_stroke(mark.stroke, 1, mark.dash)}'
            faint = f' fill-opacity="{mark.opacity}"' if mark.opacity < 1 else ""
            return f"<rect {position} {look}{faint}/>"
        case Circle():
            position = _attributes(cx=mark.x, cy=mark.y, r=mark.radius)
            faint = f' opacity="{mark.opacity}"' if mark.opacity < 1 else ""
            return f'<circle {position} fill="{mark.fill}"{_stroke(mark.stroke, mark.width, "")}{faint}/>'
        case Path():
            return f'<path d="{mark.d}" fill="{mark.fill}"{_stroke(mark.stroke, mark.width, mark.dash)}/>'
        case Shape():
            at = f"translate({svg_number(mark.x)} {svg_number(mark.y)})"
            return f'<path transform="{at}" d="{mark.d}" fill="{mark.fill}"{_stroke(mark.stroke, mark.width, "")}/>'
        case Linked():
            return f'<a href="{escape(mark.url)}" tabindex="-1">{"".join(map(_written, mark.marks))}</a>'
        case TextMark():
            position = _attributes(x=mark.x, y=mark.y, **{"font-size": mark.style.size})
            weight = ' font-weight="600"' if mark.style.bold else ""
            family = f' font-family="{_text(MONO)}"' if mark.style.mono else ""
            anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
            return f'<text {position}{weight}{family}{anchor} fill="{mark.fill}">{_text(mark.text)}</text>'


def _attributes(**values: float) -> str:
    return " ".join(f'{name}="{svg_number(value)}"' for name, value in values.items() if value or name in ("x", "y"))


def _stroke(colour: str, width: float, dash: str) -> str:
    if colour == "none":
        return ""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f' stroke="{colour}" stroke-width="{svg_number(width)}"{dashed}'


def _text(text: str) -> str:
    return escape(printable_line(text))


def written_lines(
    lines: Sequence[str], x: float, y: float, style: Style, leading: float, fill: str = INK
) -> tuple[TextMark, ...]:
    """Lines below each other, the foot of the first at `y`."""
    return tuple(
        TextMark(x=x, y=y + index * leading, text=line, style=style, fill=fill) for index, line in enumerate(lines)
    )
