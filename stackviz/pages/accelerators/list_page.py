"""The list of accelerators, as a page and as a file with all pages of the query. The address is the whole state."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.base.units import from_si
from stackviz.pages.accelerators.list_filters import column_choices, facets, known_choices
from stackviz.pages.accelerators.list_query import FORMATS, PRICE_COLUMN, FilterChoices, read_list_query
from stackviz.pages.accelerators.list_rows import (
    found_text,
    kind_column,
    lacking_text,
    list_columns,
    list_rows,
    missing_words,
    name_column,
    narrowings,
    order_text,
    reported_as,
)
from stackviz.pages.accelerators.list_search import Search
from stackviz.records.catalog.costs import costs_now, leading_cost
from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.figures import join_variants, usual_values
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.web.http.download import Columns, json_response, of_part, row_as_object, table_file
from stackviz.web.http.errors import refuse_notes
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_as, page_number, page_of
from stackviz.web.parts import cached_html, render_part

_Row: TypeAlias = tuple[Accelerator, dict[str, list[SpecValue]]]  # with its values by field


def list_file(request: HttpRequest, search: Search) -> HttpResponse:
    """Return all pages of the list as the file that the query asks for."""
    query, catalogue = search.query, search.catalogue
    fields = [FIELDS[name] for name in query.columns if name in FIELDS]
    has_prices = PRICE_COLUMN.name in query.columns
    rows: list[_Row] = [
        (item, {field.name: usual_values(field, catalogue.preferred(item.pk, field.name)) for field in fields})
        for item in search.ordered()
    ]
    columns: Columns[_Row] = {
        "slug": lambda row: row[0].slug,
        "name": lambda row: row[0].name,
        "vendor": lambda row: row[0].vendor.slug,
        "kind": lambda row: row[0].kind,
        "address": lambda row: request.build_absolute_uri(row[0].get_absolute_url()),
    }
    if query.format == "csv":
        for name in query.columns:
            is_price = name not in FIELDS
            columns |= _price_columns(catalogue) if is_price else _figure_columns(FIELDS[name], catalogue)
        return table_file("accelerators", columns, rows)
    document = {
        "address": request.build_absolute_uri(request.path + query.address()),
        "count": len(rows),
        "sort": query.sort or "name",
        "without_figure": search.counted().unknown,
        "fields": [{"field": field.name, "title": field.words[0], "unit": field.unit} for field in fields],
        "items": [
            row_as_object(columns, row)
            | _values_and_missing(*row, catalogue)
            | ({"costs": [cost.as_data for cost in costs_now(row[0].pk, catalogue)]} if has_prices else {})
            for row in rows
        ],
    }
    return json_response("accelerators", document)


def _figure_columns(field: Field, catalogue: PublicCatalogue) -> Columns[_Row]:
    """Return the five columns of one field. Variants of one product share a cell: `48 / 64 / 128`."""

    def figure(values: list[SpecValue]) -> object:
        figures = [list_figure(field, value) for value in values]
        return figures[0] if len(figures) == 1 else join_variants([str(number) for number in figures])

    def values_of(row: _Row) -> list[SpecValue]:
        return row[1][field.name]

    columns: Columns[list[SpecValue]] = {
        "": lambda values: figure(values) if values else None,
        "_unit": lambda values: field.unit if values else "",
        "_condition": lambda values: join_variants([value.condition for value in values if value.condition]),
        "_basis": lambda values: join_variants([str(value.basis) for value in values]),
        "_source": lambda values: " ".join(dict.fromkeys(value.source.url for value in values if value.source)),
    }
    of_row = of_part(values_of, columns)
    of_row["_basis"] = lambda row: (
        columns["_basis"](values_of(row)) or missing_words(field, row[0], catalogue.preferred(row[0].pk, field.name))
    )
    return {field.name + name: cell for name, cell in of_row.items()}


def _price_columns(catalogue: PublicCatalogue) -> Columns[_Row]:
    """Return the columns of the leading price; of no price known only the names."""

    def cost_of(row: _Row) -> dict[str, str | float]:
        leading = leading_cost(costs_now(row[0].pk, catalogue))
        return leading.as_data if leading else {}

    names = {"price": "amount"} | {f"price_{name}": name for name in _COST_COLUMNS}
    return {column: partial(_cost_cell, cost_of, name) for column, name in names.items()}


_COST_COLUMNS = ("currency", "kind", "condition", "day", "seller", "source")


def _cost_cell(cost_of: Callable[[_Row], dict[str, str | float]], name: str, row: _Row) -> str | float | None:
    return cost_of(row).get(name)


def list_figure(field: Field, value: SpecValue) -> float | int | str:
    """The value in the field's own unit, as the list shows it: 32 GiB are 34.359738368 GB."""
    if value.amount is None:
        return value.value
    number = float(f"{from_si(value.amount, field.unit):.12g}")
    return int(number) if number.is_integer() else number


def _values_and_missing(
    item: Accelerator, values_by_field: dict[str, list[SpecValue]], catalogue: PublicCatalogue
) -> dict[str, object]:
    """`values` by field, several if the product has variants; `missing` gives the reason for each field without one."""
    fields = {name: FIELDS[name] for name in values_by_field}
    return {
        "values": {
            name: [_json_value(fields[name], value) for value in values]
            for name, values in values_by_field.items()
            if values
        },
        "missing": {
            name: missing_words(fields[name], item, catalogue.preferred(item.pk, name))
            for name, values in values_by_field.items()
            if not values
        },
    }


def _json_value(field: Field, value: SpecValue) -> dict[str, Any]:
    return {
        "value": list_figure(field, value),
        "unit": field.unit,
        "condition": value.condition,
        "basis": str(value.basis),
        "note": value.note,
        "source": {"title": value.source.title, "url": value.source.url} if value.source else None,
    }


PER_PAGE = 60
CACHE_S = 600  # a list is slow to render and changes rarely; its key moves with the catalogue's edition
_READ_HERE = frozenset({"page", "format"})


@require_safe
@serves_formats(*FORMATS)
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
    rows = list_rows(page.items, query.columns, search.catalogue, query.memory_min)
    row_of = {row["accelerator"]: row for row in rows}
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
