"""The page `/accelerators/`: filters, the list, its files. The address is the whole state."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.pages.accelerators.list_files import list_file
from stackviz.pages.accelerators.list_filters import column_choices, facets, known_choices
from stackviz.pages.accelerators.list_query import FilterChoices, read_list_query
from stackviz.pages.accelerators.list_rows import (
    found_text,
    kind_column,
    lacking_text,
    list_columns,
    list_rows,
    name_column,
    narrowings,
    order_text,
    reported_as,
)
from stackviz.pages.accelerators.list_search import Search
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.errors import refuse_notes
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_as, page_number, page_of
from stackviz.web.parts import cached_html, render_part

PER_PAGE = 60
CACHE_S = 600  # a list is slow to render and changes rarely; its key moves with the catalogue's edition
_READ_HERE = frozenset({"page", "format"})


@require_safe
@vary_on_htmx
def accelerator_list(request: HttpRequest) -> HttpResponse:
    """The list as a page, for htmx only the table and the filter counts, or as a file if `format` is given."""
    catalogue = public_catalogue()
    choices = known_choices(catalogue)
    query = read_list_query(request.GET, choices, _READ_HERE)
    search = Search(query, catalogue)
    if query.format:
        return refuse_notes(query.notes) if query.notes else list_file(request, search)
    number = page_number(request)
    state = ("accelerators", query.query_string, catalogue.edition)
    results = cached_html(("found", number, *state), lambda: _results_html(search, number, choices), CACHE_S)
    results = render_part("web/_notes.jinja", notes=query.notes) + results
    if wants_partial(request):
        counts = cached_html(("counts", *state), lambda: _rendered("_counts", facets=facets(search, choices)), CACHE_S)
        response = HttpResponse(results + counts)
        return push_url(response, request.path + query.address().removesuffix("?")) if number == 1 else response
    filters = cached_html(("filters", *state), lambda: _filters(search, choices), CACHE_S)
    return render(request, "accelerators/list.html", {"filters": filters, "found": results})


def _rendered(name: str, **context: object) -> str:
    return render_part(f"accelerators/{name}.jinja", **context)


def _filters(search: Search, choices: FilterChoices) -> str:
    query = search.query
    return _rendered("_filters", asked=query, facets=facets(search, choices), column_groups=column_choices(query))


def _results_html(search: Search, number: int, choices: FilterChoices) -> str:
    """The matching rows with their heading and counts, as HTML."""
    query, counts = search.query, search.counted()
    page = page_of(search.folded(), number, PER_PAGE)
    rows = list_rows(page.items, query.columns, search.catalogue)
    row_of = {row.accelerator: row for row in rows}
    return _rendered(
        "_found",
        asked=query,
        columns=(name_column(query), kind_column(query), *list_columns(query)),
        page=page_as(page, lambda together: row_of[together[0]]),
        found_text=found_text(counts, len(search.catalogue.accelerators), query),
        order_text=order_text(counts, query),
        narrowings=narrowings(query, choices),
        left_out=lacking_text(search),
        reported=reported_as(query.q),
        file_address=query.address(),
    )
