"""A view as a file: CSV that no spreadsheet takes for formulas, JSON that every parser reads, Markdown, SVG."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.utils.text import slugify

Cell = str | int | float | bool | None
Row = TypeVar("Row")
Part = TypeVar("Part")
Columns: TypeAlias = dict[str, Callable[[Row], object]]  # of a table: name -> value of a row

# What makes a spreadsheet take a text for a formula, also after it has dropped blanks of its own.
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(cell: object) -> Cell:
    """Return a cell that is safe in a CSV file: numbers stay numbers, None is empty, a text is never a formula.

    `=1+1` becomes `'=1+1`: a spreadsheet shows the text and computes nothing.
    """
    if cell is None or isinstance(cell, bool | int | float):
        return cell
    text = str(cell).replace("\x00", "")
    return f"'{text}" if _is_formula(text) else text


def unsafe_text(cell: str) -> str:
    """A text as it was before `safe_cell` marked it: `'=1+1` becomes `=1+1`, `'quoted` stays."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(text: str) -> bool:
    return text.startswith(_STARTS_A_FORMULA) or text.lstrip().startswith(_STARTS_A_FORMULA)


def table_file(
    name: str,
    columns: Columns[Row],
    rows: Iterable[Row],
    ending: str = "csv",
    *,
    document: Callable[[list[dict[str, object]]], object] | None = None,
) -> HttpResponse:
    """Return the table as `name.csv`, or as `name.json`: the rows as objects, inside what `document` makes of them."""
    if ending == "csv":
        return csv_response(name, tuple(columns), ([value(row) for value in columns.values()] for row in rows))
    objects = [row_as_object(columns, row) for row in rows]
    return json_response(name, document(objects) if document else objects)


def row_as_object(columns: Columns[Row], row: Row) -> dict[str, object]:
    """Return one row as JSON has it."""
    return {name: value(row) for name, value in columns.items()}


def of_part(part: Callable[[Row], Part | None], columns: Columns[Part]) -> Columns[Row]:
    """Return the columns of a part of each row, None in all of them for a row without it."""

    def column(value: Callable[[Part], object]) -> Callable[[Row], object]:
        def cell(row: Row) -> object:
            piece = part(row)
            return None if piece is None else value(piece)

        return cell

    return {name: column(value) for name, value in columns.items()}


def attributes(*names: str) -> Columns[Any]:
    """Return a column for each of these attributes of the rows."""
    return {name: attrgetter(name) for name in names}


def of_objects(*names: str) -> Columns[Mapping[str, object]]:
    """Return columns for rows that are objects already; those without the name have an empty cell."""
    return {name: lambda row, name=name: row.get(name) for name in names}  # type: ignore[misc]


def csv_response(name: str, header: Sequence[object], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """The rows under their header as the file `name.csv`, in UTF-8. ValueError for a row of another length."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([safe_cell(cell) for cell in header])
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under a header of {len(header)}")
        writer.writerow([safe_cell(cell) for cell in row])
    return _file(out.getvalue(), "text/csv; charset=utf-8", name, "csv")


def json_response(name: str, data: object) -> HttpResponse:
    """The data as the file `name.json`. ValueError for NaN and infinity, which JSON does not have."""
    text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, allow_nan=False, indent=1)
    return _file(text + "\n", "application/json", name, "json")


def markdown_response(name: str, text: str) -> HttpResponse:
    """The text as the file `name.md`."""
    return _file(text, "text/markdown; charset=utf-8", name, "md")


def svg_response(name: str, text: str) -> HttpResponse:
    """The drawing as the file `name.svg`."""
    return _file(text, "image/svg+xml; charset=utf-8", name, "svg")


def _file(text: str, content_type: str, name: str, ending: str) -> HttpResponse:
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{slugify(name)[:80] or "data"}.{ending}"'
    return response
