"""The list as a file: all pages of the query, each value with unit, condition and source address."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from stackviz.base.units import from_si
from stackviz.pages.accelerators.list_rows import missing_words
from stackviz.pages.accelerators.list_search import Search
from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.figures import join_variants, usual_values
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.web.download import csv_response, json_response

_HEADS = ("slug", "name", "vendor", "kind", "address")
_PARTS = ("", "_unit", "_condition", "_basis", "_source")


def list_file(request: HttpRequest, search: Search) -> HttpResponse:
    """The view as a file in the requested format."""
    fields, preferred = [FIELDS[name] for name in search.query.columns], search.catalogue.preferred
    rows = [
        (item, [(field, usual_values(field, preferred(item.pk, field.name))) for field in fields])
        for item in search.ordered()
    ]
    return _csv(request, fields, rows) if search.query.format == "csv" else _json(request, search, fields, rows)


_Cells = list[tuple[Field, list[SpecValue]]]
_Rows = list[tuple[Accelerator, _Cells]]


def _csv(request: HttpRequest, fields: Sequence[Field], cells_by_row: _Rows) -> HttpResponse:
    header = [*_HEADS, *(f"{field.name}{part}" for field in fields for part in _PARTS)]
    rows = [
        [*_named(request, item).values(), *(part for cell in cells for part in _csv_cell(item, *cell))]
        for item, cells in cells_by_row
    ]
    return csv_response("accelerators", header, rows)


def _named(request: HttpRequest, item: Accelerator) -> dict[str, str]:
    address = request.build_absolute_uri(item.get_absolute_url())
    return dict(zip(_HEADS, (item.slug, item.name, item.vendor.slug, item.kind, address), strict=True))


def _csv_cell(item: Accelerator, field: Field, values: Sequence[SpecValue]) -> tuple[object, ...]:
    """The five cells of one figure. Variants of one product share them: `48 / 64 / 128`."""
    if not values:
        return None, "", "", missing_words(field, item), ""
    figures = [list_figure(field, value) for value in values]
    return (
        figures[0] if len(figures) == 1 else join_variants([str(number) for number in figures]),
        field.unit,
        join_variants([value.condition for value in values if value.condition]),
        join_variants([str(value.basis) for value in values]),
        " ".join(dict.fromkeys(value.source.url for value in values if value.source)),
    )


def list_figure(field: Field, value: SpecValue) -> float | int | str:
    """The value in the field's own unit, as the list shows it: 32 GiB are 34.359738368 GB."""
    if value.amount is None:
        return value.value
    number = float(f"{from_si(value.amount, field.unit):.12g}")
    return int(number) if number.is_integer() else number


def _json(request: HttpRequest, search: Search, fields: Sequence[Field], cells_by_row: _Rows) -> HttpResponse:
    query, counts = search.query, search.counted()
    data = {
        "address": request.build_absolute_uri(request.path + query.address()),
        "count": len(cells_by_row),
        "sort": query.sort or "name",
        "without_figure": counts.unknown,
        "fields": [{"field": field.name, "title": field.words[0], "unit": field.unit} for field in fields],
        "items": [_named(request, item) | _json_cells(item, cells) for item, cells in cells_by_row],
    }
    return json_response("accelerators", data)


def _json_cells(item: Accelerator, cells: _Cells) -> dict[str, Any]:
    """`values` by field, several if the product has variants; `missing` gives the reason for each field without one."""
    return {
        "values": {field.name: [_json_value(field, value) for value in values] for field, values in cells if values},
        "missing": {field.name: missing_words(field, item) for field, values in cells if not values},
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
