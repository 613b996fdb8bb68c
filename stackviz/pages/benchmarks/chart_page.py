"""How every page of this room answers: the whole page, for htmx its part; and the words beside a drawing."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django_htmx.http import push_url

from stackviz.draw.charts.scale import ScaleKind
from stackviz.draw.charts.scatter import SHAPES
from stackviz.draw.charts.vendors import css
from stackviz.web.address import Note
from stackviz.web.htmx import wants_partial
from stackviz.web.parts import render_part

CACHE_S = 600  # keys move with sheets, cited results and measured ones


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPage:
    """`title`, `lead`: of the page; `query`: of its address; `body`: the part that htmx swaps."""

    title: str
    lead: str
    query: str
    body: SafeString
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotPoint:
    """A point in the drawing: a link with words for a hover. `mark`: id of its shape."""

    left: str
    top: str
    mark: str
    css: str
    words: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """The words of a drawing, its points as links, and the shapes they use: (id, path). `css`: class of each slot.

    `has_names_outside`: names of lines stand right of the drawing, for lines that do not end level.
    """

    title: str
    x: str
    y: str
    key: str
    count_text: str
    points: tuple[PlotPoint, ...]
    shapes: tuple[tuple[str, str], ...]
    x_kind: ScaleKind = "log"
    y_kind: ScaleKind = "log"
    has_names_outside: bool = False
    css: tuple[str, ...] = tuple(css(slot) for slot in range(6))


@dataclass(frozen=True, slots=True)
class LegendShape:
    """`path`: around the origin, some 14 units wide."""

    path: str
    words: str


def legend_shape(shape: int, words: str) -> LegendShape:
    return LegendShape(SHAPES[shape], words)


def answer_chart(request: HttpRequest, page: ChartPage) -> HttpResponse:
    if wants_partial(request):
        part = render_part("web/_notes.jinja", notes=page.notes) + page.body
        return push_url(HttpResponse(part), request.path + (f"?{page.query}" if page.query else ""))
    return render(request, "benchmarks/page.html", {"page": page})
