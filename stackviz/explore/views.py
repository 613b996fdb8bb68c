"""All accelerators at once: ranked, drawn against each other, through time. The address is the whole state."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.explore.axes import Catalogue, read
from stackviz.explore.files import drawing_file, ranking_file
from stackviz.explore.forms import ladder_form, presets, scatter_form, timeline_form
from stackviz.explore.ladder import absent_vendors, rank
from stackviz.explore.measured import Measured, measured
from stackviz.explore.scatter import draw, figure
from stackviz.explore.selection import (
    FIGURE,
    Filters,
    LadderChoice,
    ScatterChoice,
    ladder_choice,
    scatter_choice,
    timeline_choice,
)
from stackviz.explore.timeline import assemble, vendors
from stackviz.web.address import Note
from stackviz.web.fragments import cached_html
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_number, page_of

PER_PAGE = 60
POINTS_PER_PAGE = 30  # rows below a drawing that holds all of them
CACHE_S = 600  # what is kept moves with the catalogue's edition and with what was measured


@require_safe
@vary_on_htmx
def ladder(request: HttpRequest) -> HttpResponse:
    """A ranking by one measure, or the same as a file. For htmx the ranking with its form alone."""
    catalogue = read()
    choice = ladder_choice(request.GET, catalogue.known)
    found = measured(choice.field)
    if choice.format:
        return ranking_file(rank(catalogue, choice, found), choice.format)
    body = _ladder_html(choice, catalogue, found, page_number(request))
    return _answer(request, Shown("explore/ladder.html", choice, body, choice.notes))


def _ladder_html(choice: LadderChoice, catalogue: Catalogue, found: Mapping[int, Measured], number: int) -> SafeString:
    """The form and the ranking, as rendered before if many ask for it and nothing they show has changed."""

    def made() -> str:
        ranking, known = rank(catalogue, choice, found), catalogue.known
        context = {
            "choice": choice,
            "ranking": ranking,
            "absent": absent_vendors(catalogue, ranking, choice, known),
            "form": ladder_form(choice, ranking, known),
            "page": page_of(ranking.rows, number, PER_PAGE),
        }
        return render_to_string("explore/_ladder.html", context)

    if number > 1 or not choice.is_plain:
        return SafeString(made())
    return cached_html(("ladder", choice.query_string, catalogue.edition, sorted(found.items())), made, CACHE_S)


@require_safe
@vary_on_htmx
def scatter(request: HttpRequest) -> HttpResponse:
    """Two measures against each other, as a drawing, a file or a Plotly figure. For htmx the drawing with its form."""
    catalogue = read()
    choice = scatter_choice(request.GET, catalogue.known)
    if choice.format == FIGURE:
        return JsonResponse(figure(catalogue, choice))
    if choice.format:
        return drawing_file(draw(catalogue, choice), choice.format)
    body = _scatter_html(choice, catalogue, page_number(request))
    return _answer(request, Shown("explore/scatter.html", choice, body, choice.notes))


def _scatter_html(choice: ScatterChoice, catalogue: Catalogue, number: int) -> SafeString:
    """The form, the drawing and its table, as rendered before if many ask for it and nothing changed since."""

    def made() -> str:
        drawing = draw(catalogue, choice)
        context = {
            "choice": choice,
            "swapped": replace(choice, x=choice.y, y=choice.x, xscale=choice.yscale, yscale=choice.xscale),
            "drawing": drawing,
            "presets": presets(choice),
            "form": scatter_form(choice, drawing, catalogue.known),
            "page": page_of(drawing.points, number, POINTS_PER_PAGE),
        }
        return render_to_string("explore/_scatter.html", context)

    if number > 1 or not choice.is_plain:
        return SafeString(made())
    return cached_html(("scatter", choice.query_string, catalogue.edition), made, CACHE_S)


@require_safe
@vary_on_htmx
def timeline(request: HttpRequest) -> HttpResponse:
    """Architectures by maker and year, each with what it brought and the figures of its largest product."""
    catalogue = read()
    names = catalogue.known.vendors
    lanes = {slug: names.get(slug, slug) for slug in vendors()}
    choice = timeline_choice(request.GET, lanes)

    def made() -> str:
        page = assemble(catalogue, choice.vendor)
        return render_to_string("explore/_timeline.html", {"form": timeline_form(choice, lanes), "page": page})

    body = cached_html(("timeline", choice.vendor, catalogue.edition), made, CACHE_S)
    return _answer(request, Shown("explore/timeline.html", choice, body, choice.notes))


@dataclass(frozen=True, slots=True)
class Shown:
    """A page's template, what was asked for, the part htmx swaps, and what of the address was left out."""

    template: str
    choice: Filters
    body: SafeString
    notes: tuple[Note, ...]


def _answer(request: HttpRequest, page: Shown) -> HttpResponse:
    if wants_partial(request):
        query = page.choice.query_string
        part = render_to_string("web/_notes.html", {"notes": page.notes}) + page.body
        return push_url(HttpResponse(part), request.path + (f"?{query}" if query else ""))
    return render(request, page.template, {"notes": page.notes, "body": page.body})
