"""`/roofline/`: what bandwidth and peak allow, and what was reached. The address holds the whole state."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from stackviz.draw.charts.plane import Plane, place_small_plane, plane_figure
from stackviz.draw.charts.scatter import SHAPES
from stackviz.draw.charts.scatter_plotly import AxisWords
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
from stackviz.pages.benchmarks.chart_page import (
    CACHE_S,
    AnyOf,
    ChartForm,
    ChartPage,
    PlotWords,
    answer_chart,
    chosen_accelerators,
    options,
)
from stackviz.pages.benchmarks.files import roofline_file
from stackviz.pages.benchmarks.intensity import ATTENTION, BYTES, DECODE, GEMM, OPERATORS, PREFILL, STREAM
from stackviz.pages.benchmarks.roofline import Roofline, assemble_roofline, roof_sentences
from stackviz.pages.benchmarks.selection import (
    DRAWING_FORMATS,
    DTYPES,
    FIGURE,
    MOST_ACCELERATORS,
    RooflineChoice,
    roofline_choice,
    without,
)
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.series.public_runs import measured_edition
from stackviz.web.http.download import svg_response
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_html, render_part

__all__ = ["roofline_figure", "roofline_page", "urlpatterns"]

SMALL_PX = 320  # height of the plot at the head of another page's part, as .small of static/css/plane.css


WIDTH, HEIGHT = 960.0, 460.0  # of templates/benchmarks/_roof_head.jinja too
LEFT, RIGHT, TOP, BOTTOM = 64.0, 24.0, 72.0, 64.0
TITLE, NAME, SMALL = Style(16, bold=True), Style(11.5, bold=True), Style(11)
LEADING = 15.0
DASHES = ("", "8 4", "2 3", "8 3 2 3", "14 4", "14 3 2 3", "4 4", "1 5")  # as .roofs .d0 to .d7 of plane.css


def roofline_svg(roofline: Roofline, title: str, axes: tuple[str, str], shapes: Sequence[tuple[str, str]]) -> str:
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


def _legend(shapes: Sequence[tuple[str, str]]) -> Iterator[Mark]:
    x = LEFT + 7
    for shape, words in shapes:
        yield Shape(x=x, y=41, d=shape, stroke=INK_2, width=2, fill="none")
        yield TextMark(x=x + 14, y=45, text=words, style=SMALL, fill=INK_2)
        x += 14 + width_of(words, SMALL) + 24


def _kinds() -> str:
    return _("Lines: published ceilings. Hollow points: cited results. Filled points: measured here.")


def _x(percent: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * percent / 100


def _y(percent: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * percent / 100


def _grid(plane: Plane) -> Iterator[Mark]:
    for mark in plane.x_marks:
        x = _x(mark.at)
        yield Path(f"M{x:.1f} {_y(0):.1f}V{_y(100):.1f}", stroke=LINE)
        yield TextMark(x=x, y=_y(100) + 16, text=mark.label, style=SMALL, fill=INK_2, anchor="middle")
    for mark in plane.y_marks:
        y = _y(mark.at)
        yield Path(f"M{_x(0):.1f} {y:.1f}H{_x(100):.1f}", stroke=LINE)
        yield TextMark(x=LEFT - 8, y=y + 4, text=mark.label, style=SMALL, fill=INK_2, anchor="end")


def _lines(plane: Plane) -> Iterator[Mark]:
    for line in plane.lines:
        path = "L".join(f"{_x(x):.1f} {_y(y):.1f}" for x, y in line.corners)
        yield Path(f"M{path}", stroke=line.hue.light, width=2, dash=DASHES[line.dash % len(DASHES)])


def _points(plane: Plane) -> Iterator[Mark]:
    for spot in plane.points:
        point = spot.point
        fill = point.hue.light if point.is_filled else PAPER
        yield Shape(x=_x(spot.x), y=_y(spot.y), d=SHAPES[point.shape], stroke=point.hue.light, width=2, fill=fill)


def _ends(plane: Plane) -> Iterator[Mark]:
    for end in plane.ends:
        yield TextMark(x=_x(100) - 4, y=_y(end.y) - 5, text=end.text, style=NAME, fill=INK, anchor="end")


@require_safe
@serves_formats(*DRAWING_FORMATS, parts=[FIGURE])
@vary_on_htmx
def roofline_page(request: HttpRequest) -> HttpResponse:
    """The rooflines as a page, a file or a Plotly figure; htmx gets only the form and the drawing."""
    catalogue = public_catalogue()
    names = {item.slug: item.name for item in catalogue.accelerators}
    choice = roofline_choice(request.GET, names)
    if choice.format == FIGURE:
        return JsonResponse(_figure(assemble_roofline(catalogue, choice)))
    if choice.format == "svg":
        roofline = assemble_roofline(catalogue, choice)
        title = _("Roofline of %(names)s") % {"names": ", ".join(names[slug] for slug in choice.slugs)}
        return svg_response("roofline", roofline_svg(roofline, title, _axis_words(), _shapes(roofline)))
    if choice.format:
        return roofline_file(assemble_roofline(catalogue, choice), choice.format)
    page = ChartPage(
        title=_("Roofline"),
        lead=_("What memory bandwidth and peak rate allow, and what was reached"),
        query=choice.query_string,
        body=_body(catalogue, choice),
        notes=choice.notes,
    )
    return answer_chart(request, page)


def _body(catalogue: PublicCatalogue, choice: RooflineChoice) -> SafeString:
    """The form, the drawing and its tables, cached."""

    def draw() -> str:
        roofline = assemble_roofline(catalogue, choice)
        return render_part(
            "benchmarks/_roofline.jinja",
            form=_form(catalogue, choice),
            choice=choice,
            roofline=roofline,
            plot=_words(roofline),
            sentences=tuple(roof_sentences(roofline)),
            shapes=_shapes(roofline),
        )

    return cached_html(("roofline", choice.query_string, edition_of_cases(), measured_edition()), draw, CACHE_S)


@require_safe
@vary_on_htmx
def roofline_figure(request: HttpRequest) -> HttpResponse:
    """The drawing alone, small, for a part of another page; a sentence where there is no roof.

    Without htmx the address leads to the whole page.
    """
    catalogue = public_catalogue()
    choice = roofline_choice(request.GET, {item.slug: item.name for item in catalogue.accelerators})
    if not wants_partial(request):
        address = reverse("benchmarks:roofline")
        return HttpResponseRedirect(f"{address}?{choice.query_string}" if choice.query_string else address)
    return HttpResponse(_figure_part(catalogue, choice))


def _figure_part(catalogue: PublicCatalogue, choice: RooflineChoice) -> SafeString:
    def draw() -> str:
        roofline = assemble_roofline(catalogue, choice)
        if not roofline.rows:
            return render_part("benchmarks/_no_roof.jinja", notes=roofline.notes)
        plane = place_small_plane(roofline.content, SMALL_PX)
        return render_part(
            "benchmarks/_roof_figure.jinja",
            query=choice.query,
            plane=plane,
            plot=_words(roofline),
            shapes=_shapes(roofline),
            notes=roofline.notes,
        )

    return cached_html(("roofline figure", choice.query_string, edition_of_cases(), measured_edition()), draw, CACHE_S)


def _form(catalogue: PublicCatalogue, choice: RooflineChoice) -> ChartForm:
    accelerators = [catalogue.by_slug[slug] for slug in choice.slugs]
    is_full = len(accelerators) >= MOST_ACCELERATORS
    return ChartForm(
        address=reverse("benchmarks:roofline"),
        chosen=chosen_accelerators(
            accelerators, lambda slug: replace(choice, slugs=without(choice.slugs, slug)).query_string
        ),
        names=() if is_full else tuple(item.name for item in catalogue.accelerators if item.slug not in choice.slugs),
        boxes=(AnyOf("dtype", _("Data types"), options({dtype: dtype for dtype in DTYPES}, choice.dtypes)),),
    )


def _words(roofline: Roofline) -> PlotWords:
    x, y = _axis_words()
    results = len(roofline.points)
    return PlotWords(
        title=_("Roofline: rate against arithmetic intensity"),
        x=x,
        y=y,
        key=_("Lines: published ceilings. Hollow points: cited results. Filled points: measured here."),
        count_text=ngettext("%(n)d result", "%(n)d results", results) % {"n": results},
    )


def _axis_words() -> tuple[str, str]:
    return _("arithmetic intensity (FLOP/B)"), _("rate (TFLOP/s)")


def _figure(roofline: Roofline) -> dict[str, object]:
    x, y = _axis_words()
    nothing = _("No accelerator has a published bandwidth or peak.")
    return plane_figure(roofline.content, AxisWords(x, "log"), AxisWords(y, "log"), nothing)


def _shapes(roofline: Roofline) -> tuple[tuple[str, str], ...]:
    """(path, words) of each operator that is drawn."""
    words = {
        DECODE: _("decode, Llama 2 7B"),
        GEMM: _("matrix product"),
        ATTENTION: _("attention"),
        PREFILL: _("prefill, Llama 2 7B"),
        STREAM: _("STREAM kernels"),
        BYTES: _("bytes only, at 0.1 FLOP/B"),
    }
    used = {point.operation.operator for point in roofline.points}
    return tuple((SHAPES[OPERATORS.index(operator)], words[operator]) for operator in OPERATORS if operator in used)


urlpatterns = [
    path("roofline/", roofline_page, name="roofline"),
    path("roofline/figure/", roofline_figure, name="roofline-figure"),
]
