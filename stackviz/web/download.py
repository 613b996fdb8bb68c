"""A view as a file: CSV that no spreadsheet takes for formulas, JSON that every parser reads, SVG."""

import csv
import io
import json
from collections.abc import Iterable, Sequence

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.utils.text import slugify

Cell = str | int | float | bool | None

# What makes a spreadsheet take a text for a formula, also after it has dropped blanks of its own.
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(cell: object) -> Cell:
    """A cell as it may stand in a CSV file: numbers stay numbers, None is empty, a text is never a formula.

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


def svg_response(name: str, text: str) -> HttpResponse:
    """The drawing as the file `name.svg`."""
    return _file(text, "image/svg+xml; charset=utf-8", name, "svg")


def _file(text: str, content_type: str, name: str, ending: str) -> HttpResponse:
    response = HttpResponse(text, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{slugify(name)[:80] or "data"}.{ending}"'
    return response
