"""The list as a file: all pages of the query, each value with unit, condition and source address."""

from typing import Any, TypeAlias

from django.http import HttpRequest, HttpResponse

from stackviz.base.units import from_si
from stackviz.pages.accelerators.list_rows import missing_words
from stackviz.pages.accelerators.list_search import Search
from stackviz.records.catalog.fields import FIELDS, Field
from stackviz.records.catalog.figures import join_variants, usual_values
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.web.download import Columns, json_response, of_part, row_as_object, table_file

_Row: TypeAlias = tuple[Accelerator, dict[str, list[SpecValue]]]  # with its values by field


def list_file(request: HttpRequest, search: Search) -> HttpResponse:
    """Return all pages of the list as the file that the query asks for."""
    query, preferred = search.query, search.catalogue.preferred
    fields = [FIELDS[name] for name in query.columns]
    rows: list[_Row] = [
        (item, {field.name: usual_values(field, preferred(item.pk, field.name)) for field in fields})
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
        for field in fields:
            columns |= _figure_columns(field)
        return table_file("accelerators", columns, rows)
    document = {
        "address": request.build_absolute_uri(request.path + query.address()),
        "count": len(rows),
        "sort": query.sort or "name",
        "without_figure": search.counted().unknown,
        "fields": [{"field": field.name, "title": field.words[0], "unit": field.unit} for field in fields],
        "items": [row_as_object(columns, row) | _values_and_missing(*row) for row in rows],
    }
    return json_response("accelerators", document)


def _figure_columns(field: Field) -> Columns[_Row]:
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
    of_row["_basis"] = lambda row: columns["_basis"](values_of(row)) or missing_words(field, row[0])
    return {field.name + name: cell for name, cell in of_row.items()}


def list_figure(field: Field, value: SpecValue) -> float | int | str:
    """The value in the field's own unit, as the list shows it: 32 GiB are 34.359738368 GB."""
    if value.amount is None:
        return value.value
    number = float(f"{from_si(value.amount, field.unit):.12g}")
    return int(number) if number.is_integer() else number


def _values_and_missing(item: Accelerator, values_by_field: dict[str, list[SpecValue]]) -> dict[str, object]:
    """`values` by field, several if the product has variants; `missing` gives the reason for each field without one."""
    fields = {name: FIELDS[name] for name in values_by_field}
    return {
        "values": {
            name: [_json_value(fields[name], value) for value in values]
            for name, values in values_by_field.items()
            if values
        },
        "missing": {name: missing_words(fields[name], item) for name, values in values_by_field.items() if not values},
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
