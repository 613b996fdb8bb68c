"""The page `/accelerators/`: filters, the list, its files. The address is the whole state."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.accelerators.list_files import FORMATS, list_file
from stackviz.accelerators.list_filters import column_choices, facets, known_choices
from stackviz.accelerators.list_query import Asked, Known, Note, read_asked
from stackviz.accelerators.list_rows import (
    columns,
    found_text,
    kind_column,
    list_rows,
    name_column,
    narrowings,
    order_text,
    plain,
    reported_as,
)
from stackviz.accelerators.list_search import counted, found_accelerators
from stackviz.catalog.models import CatalogueEdition
from stackviz.catalog.queries import public_accelerators
from stackviz.web.fragments import kept
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_as, page_number, page_of

PER_PAGE = 60
KEPT_PAGES = 4  # the whole list has as many; numbers beyond its end have no end
KEPT_S = 600  # a rendered list is dear and changes rarely; its key moves with the catalogue's edition
_READ_HERE = frozenset({"page", "format"})


@require_safe
@vary_on_htmx
def accelerator_list(request: HttpRequest) -> HttpResponse:
    """The list as a page; for htmx the table and the counts of the filters; as a file where `format` says so."""
    edition = CatalogueEdition.current()
    known = known_choices(edition)
    asked = read_asked(request.GET, known, _READ_HERE)
    ending = request.GET.get("format", "")
    if ending in FORMATS:
        return list_file(request, asked, ending)
    if ending:
        asked = _noted(asked, "format", _("There is no file format %(name)r here") % {"name": ending[:40]})
    number = page_number(request)
    state = (asked.query_string, edition)
    if number <= KEPT_PAGES:
        found = _kept(asked, ("found", number, *state), lambda: _found(asked, number, known))
    else:
        found = _found(asked, number, known)
    if wants_partial(request):
        counts = _kept(asked, ("counts", *state), lambda: _rendered("_counts", facets=facets(asked, known)))
        response = HttpResponse(found + counts)
        return push_url(response, request.path + asked.address().removesuffix("?")) if number == 1 else response
    filters = _kept(asked, ("filters", *state), lambda: _filters(asked, known))
    return render(request, "accelerators/list.html", {"filters": filters, "found": found})


def _noted(asked: Asked, parameter: str, text: str) -> Asked:
    return replace(asked, notes=(*asked.notes, Note(parameter, text)))


def _kept(asked: Asked, state: tuple[object, ...], make: Any) -> str:  # noqa: ANN401 - a function without arguments
    """What `make` renders, as rendered before if many ask for it and nothing changed since."""
    return kept(("accelerators", *state), make, KEPT_S) if plain(asked) else make()


def _rendered(name: str, **context: object) -> str:
    return render_to_string(f"accelerators/{name}.html", context)


def _filters(asked: Asked, known: Known) -> str:
    return _rendered("_filters", asked=asked, facets=facets(asked, known), column_groups=column_choices(asked))


def _found(asked: Asked, number: int, known: Known) -> str:
    """The rows that answer, and what is said about them, as HTML."""
    page = page_of(found_accelerators(asked), number, PER_PAGE)
    rows = list_rows(page.items, asked.columns)
    counts = counted(asked)
    everything = public_accelerators().count() if asked.is_filtered else counts.found
    return _rendered(
        "_found",
        asked=asked,
        columns=(name_column(asked), kind_column(asked), *columns(asked)),
        page=page_as(page, dict(zip(page.items, rows, strict=True)).__getitem__),
        found_text=found_text(counts, everything, asked),
        order_text=order_text(counts, asked),
        narrowings=narrowings(asked, known),
        reported=reported_as(asked.q),
        file_address=asked.address(),
    )
