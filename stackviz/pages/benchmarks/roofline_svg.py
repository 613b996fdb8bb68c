"""The roofline as an SVG file that stands alone: the lines and points of the page, for a slide or without scripts."""

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from stackviz.draw.charts.frame import colour
from stackviz.draw.charts.plane import Plane, place_small_plane
from stackviz.draw.charts.scatter import SHAPES
from stackviz.draw.diagrams.svg_marks import (
    INK,
    INK_2,
    LINE,
    PAPER,
    Mark,
    Path,
    Shape,
    Sketch,
    TextMark,
    svg_text,
    written_lines,
)
from stackviz.draw.diagrams.text_width import Style, lines_of, width_of
from stackviz.pages.benchmarks.chart_page import LegendShape
from stackviz.pages.benchmarks.roofline import Roofline, roof_sentences

WIDTH, HEIGHT = 960.0, 460.0  # of templates/benchmarks/_roof_head.jinja too
LEFT, RIGHT, TOP, BOTTOM = 64.0, 24.0, 72.0, 64.0
TITLE, NAME, SMALL = Style(16, bold=True), Style(11.5, bold=True), Style(11)
LEADING = 15.0
DASHES = ("", "8 4", "2 3", "8 3 2 3", "14 4", "14 3 2 3", "4 4", "1 5")  # as .roofs .d0 to .d7 of plane.css


def roofline_svg(roofline: Roofline, title: str, axes: tuple[str, str], shapes: Sequence[LegendShape]) -> str:
    """`axes`: their words, horizontal first. Without a roof it contains the reason alone."""
    plane = place_small_plane(roofline.content, round(HEIGHT - TOP - BOTTOM))
    words = (
        TextMark(x=LEFT, y=24, text=title, style=TITLE),
        TextMark(x=LEFT, y=60, text=f"\u2191 {axes[1]}", style=SMALL, fill=INK_2),
        TextMark(
            x=WIDTH - RIGHT, y=HEIGHT - BOTTOM + 34, text=f"{axes[0]} \u2192", style=SMALL, fill=INK_2, anchor="end"
        ),
    )
    below = lines_of(" ".join((_kinds(), *roofline.notes)), WIDTH - LEFT - RIGHT, SMALL)
    foot = written_lines(below, LEFT, HEIGHT - 10, SMALL, LEADING, INK_2)
    marks = (*words, *_legend(shapes), *_grid(plane), *_lines(plane), *_points(plane), *_ends(plane), *foot)
    height = HEIGHT + LEADING * (len(below) - 1)
    return svg_text(Sketch(WIDTH, height, marks), title, " ".join(roof_sentences(roofline)))


def _legend(shapes: Sequence[LegendShape]) -> Iterator[Mark]:
    x = LEFT + 7
    for shape in shapes:
        yield Shape(x=x, y=41, d=shape.path, stroke=INK_2, width=2, fill="none")
        yield TextMark(x=x + 14, y=45, text=shape.words, style=SMALL, fill=INK_2)
        x += 14 + width_of(shape.words, SMALL) + 24


def _kinds() -> str:
    return _("Lines: published ceilings. Hollow points: cited results. Filled points: measured here.")


def _x(percent: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * percent / 100


def _y(percent: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * percent / 100


def _grid(plane: Plane) -> Iterator[Mark]:
    for mark in plane.x_marks:
        x = _x(float(mark.at))
        yield Path(f"M{x:.1f} {_y(0):.1f}V{_y(100):.1f}", stroke=LINE)
        yield TextMark(x=x, y=_y(100) + 16, text=mark.label, style=SMALL, fill=INK_2, anchor="middle")
    for mark in plane.y_marks:
        y = _y(float(mark.at))
        yield Path(f"M{_x(0):.1f} {y:.1f}H{_x(100):.1f}", stroke=LINE)
        yield TextMark(x=LEFT - 8, y=y + 4, text=mark.label, style=SMALL, fill=INK_2, anchor="end")


def _lines(plane: Plane) -> Iterator[Mark]:
    for line in plane.lines:
        corners = [corner.split(",") for corner in line.path.split()]
        path = "L".join(f"{_x(float(x)):.1f} {_y(float(y)):.1f}" for x, y in corners)
        yield Path(f"M{path}", stroke=colour(line.slot), width=2, dash=DASHES[line.dash % len(DASHES)])


def _points(plane: Plane) -> Iterator[Mark]:
    for spot in plane.points:
        fill = colour(spot.slot) if spot.is_filled else PAPER
        x, y = _x(float(spot.x)), _y(float(spot.y))
        yield Shape(x=x, y=y, d=SHAPES[spot.shape], stroke=colour(spot.slot), width=2, fill=fill)


def _ends(plane: Plane) -> Iterator[Mark]:
    for end in plane.ends:
        yield TextMark(x=_x(100) - 4, y=_y(float(end.y)) - 5, text=end.text, style=NAME, fill=INK, anchor="end")
