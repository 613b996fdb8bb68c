"""A comparison as a file: the rows and columns of the spec table, then facts, results and stacks, with sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils.text import slugify

from stackviz.pages.compare.file_parts import FileParts, file_rows, further_heads, parts_data, parts_tables
from stackviz.pages.compare.spec_table import SheetCell, SheetRow, Sheets
from stackviz.pages.compare.subjects import Head
from stackviz.web.http.address import write_moment
from stackviz.web.http.download import csv_response, json_response, markdown_response


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What a file says besides the table. `address`: where the page is; `frozen`: where it stays as it was `at`."""

    title: str
    address: str
    frozen: str
    at: datetime
    only_differences: bool

    @property
    def name(self) -> str:
        return f"accelweb-{slugify(self.title)[:60]}-{self.at:%Y-%m-%d}"


def exported(form: str, sheets: Sheets, parts: FileParts, about: Exported) -> HttpResponse:
    """The comparison as `csv`, `json` or `md`."""
    if form == "csv":
        further = further_heads(parts, sheets.heads)
        rows = (*_csv_rows(sheets, len(further)), *_further_rows(sheets, further, parts))
        return csv_response(about.name, _csv_header(sheets, further), rows)
    if form == "json":
        return json_response(about.name, _as_data(sheets, about) | parts_data(parts))
    return markdown_response(about.name, _as_markdown(sheets, parts, about))


def _lines(sheets: Sheets) -> Iterable[tuple[str, SheetRow]]:
    return ((group.title, line) for group in sheets.groups for line in group.rows)


def _kind(line: SheetRow) -> str:
    return "derived" if line.is_derived else "published"


# --- CSV: a line per row of the table, the columns _OF_EACH per subject; newer columns stand at the end ---

_OF_EACH = ("", "factor", "better", "condition", "basis", "source", "source address", "note")
_NAMES_OF_EACH = ("field", "name", "reason")


def _csv_header(sheets: Sheets, further: Sequence[Head]) -> list[str]:
    columns = [f"{head.title} {what}".rstrip() for head in sheets.heads for what in _OF_EACH]
    names = [f"{head.title} {what}" for head in sheets.heads for what in _NAMES_OF_EACH]
    more = [f"{head.title} {what}".rstrip() for head in further for what in _OF_EACH]
    return ["group", "field", "figure", "unit", "condition", "kind", *columns, *names, *more]


def _further_rows(sheets: Sheets, further: Sequence[Head], parts: FileParts) -> Iterable[list[object]]:
    """Reported facts, measured results and stacks, then what is left out."""
    nothing: list[object] = [""] * len(_OF_EACH)
    names = [""] * len(sheets.heads) * len(_NAMES_OF_EACH)
    for row in file_rows(parts):
        of_table = [item for head in sheets.heads for item in row.cells.get(head.slot, nothing)]
        beyond = [item for head in further for item in row.cells.get(head.slot, nothing)]
        yield [*row.lead, *of_table, *names, *beyond]


def _csv_rows(sheets: Sheets, further: int) -> Iterable[list[object]]:
    for group, line in _lines(sheets):
        row = line.row
        cells = [item for cell in line.cells for item in _csv_cell(line, cell, sheets)]
        names = [item for cell in line.cells for item in (cell.field or row.field if cell.text else "", *_named(cell))]
        yield [
            group,
            row.field,
            row.title,
            row.unit,
            row.condition,
            _kind(line),
            *cells,
            *names,
            *[""] * further * len(_OF_EACH),
        ]


def _named(cell: SheetCell) -> tuple[str, str]:
    """(what the figure is called where fields share the row, why there is none of the row's own field)."""
    return cell.label or (cell.condition if cell.field else ""), cell.missing if cell.field or not cell.text else ""


def _csv_cell(line: SheetRow, cell: SheetCell, sheets: Sheets) -> list[object]:
    """A missing figure is given in words; one under another condition has that condition and no factor."""
    source = sheets.sources[cell.source - 1] if cell.source else None
    if cell.reason and not cell.condition:
        return [cell.missing, "", "", "", "", source.title if source else "", source.url if source else "", cell.note]
    return [
        plain(cell),
        cell.factor.removesuffix("×").replace(",", ""),
        "yes" if cell.is_best else "",
        cell.condition or line.row.condition,
        cell.basis,
        source.title if source else "",
        source.url if source else "",
        cell.note,
    ]


def plain(cell: SheetCell) -> str | float:
    """The figure as a program reads it: a number as shown, without separators; several variants stay a text."""
    try:
        return float(cell.text.replace(",", "")) if cell.amount is not None else cell.text
    except ValueError:
        return cell.text


# --- JSON ---


def _as_data(sheets: Sheets, about: Exported) -> dict[str, Any]:
    return {
        "comparison": about.title,
        "address": about.address,
        "frozen_address": about.frozen,
        "at": write_moment(about.at),
        "only_differences": about.only_differences,
        "baseline": sheets.base.name if sheets.base else None,
        "subjects": [
            {"subject": head.name, "title": head.title, "per_card": head.slot in sheets.per_card}
            for head in sheets.heads
        ],
        "rows": [_row_data(group, line, sheets) for group, line in _lines(sheets)],
    }


def _row_data(group: str, line: SheetRow, sheets: Sheets) -> dict[str, Any]:
    row = line.row
    return {
        "group": group,
        "field": row.field,
        "title": row.title,
        "unit": row.unit,
        "condition": row.condition,
        "kind": _kind(line),
        "higher_is_better": row.better,
        "meaning": row.meaning,
        "joined": row.joined or None,
        "only_on": sheets.heads[line.alone].name if line.alone is not None and len(sheets.heads) > 1 else None,
        "cells": [
            {"subject": head.name, **_cell_data(cell, sheets)}
            for head, cell in zip(sheets.heads, line.cells, strict=True)
        ],
        "costs": [
            {"subject": head.name, **cost.as_data} for head, cost in zip(sheets.heads, row.costs, strict=True) if cost
        ]
        if row.costs
        else [],
    }


def _cell_data(cell: SheetCell, sheets: Sheets) -> dict[str, Any]:
    if cell.is_published:
        compared = {"factor": cell.factor or None, "is_better": cell.is_best, "name": cell.label}
        return _figure_data(cell, sheets) | compared
    other = _figure_data(cell, sheets) | {"condition": cell.condition} if cell.condition and not cell.field else None
    data: dict[str, Any] = {
        "missing": cell.reason,
        "says": cell.missing,
        "under_another_condition": other,
        "stands_in": None,
    }
    if cell.field:
        named = {"field": cell.field, "name": cell.condition, "factor": cell.factor or None}
        figure = _figure_data(cell, sheets) | named
        return data | {"stands_in": figure, "source": _source_data(cell.why_source, sheets)}
    return data | {"source": None if cell.text else _source_data(cell.source, sheets)}


def _figure_data(cell: SheetCell, sheets: Sheets) -> dict[str, Any]:
    return {
        "value": plain(cell),
        "text": cell.text,
        "amount_si": cell.amount,
        "basis": cell.basis,
        "source": _source_data(cell.source, sheets),
        "note": cell.note,
    }


def _source_data(number: int, sheets: Sheets) -> dict[str, str] | None:
    source = sheets.sources[number - 1] if number else None
    return {"title": source.title, "url": source.url} if source else None


# --- Markdown ---


def _as_markdown(sheets: Sheets, parts: FileParts, about: Exported) -> str:
    heads = [f"{head.title}{' (baseline)' if head == sheets.base else ''}" for head in sheets.heads]
    lines = [f"# {_md(about.title)}", "", f"Figures as of {write_moment(about.at)}: <{about.frozen}>"]
    for group in sheets.groups:
        lines += ["", f"## {_md(group.title)}", "", _md_row(["Figure", *heads]), _md_row(["---"] * (len(heads) + 1))]
        lines += [_md_line(line) for line in group.rows]
    for title, (names, *rows) in parts_tables(parts):
        lines += ["", f"## {_md(title)}", "", _md_row(names), _md_row(["---"] * len(names)), *map(_md_row, rows)]
    lines += ["", *(f"Not in this file: {_md(text)}." for text in parts.left_out)]
    lines += ["", "## Sources", ""]
    lines += [f"{source.number}. {_md(source.title)} <{source.url}>" for source in sheets.sources]
    return "\n".join(lines) + "\n"


def _md_line(line: SheetRow) -> str:
    row = line.row
    condition = f" ({row.condition})" if row.condition else ""
    title = _md(", ".join(filter(None, (row.title, row.unit))) + condition)
    return _md_row([title, *(_md_cell(line, cell) for cell in line.cells)], escape=False)


def _md_cell(line: SheetRow, cell: SheetCell) -> str:
    source = f" [{cell.source}]" if cell.source else ""
    if not cell.is_published and not cell.condition:
        return _md(cell.missing) + source
    text = _md(cell.text)
    if cell.is_best:
        text = f"**{text}**"
    parts = [text, f"({_md(_qualified(cell))})" if cell.condition or cell.label else "", cell.factor]
    parts += ["derived" if cell.basis == "derived" and not line.is_derived else ""]
    return " ".join(filter(None, parts)) + source


def _qualified(cell: SheetCell) -> str:
    """What the figure is, and whether it may be compared with those of the row."""
    words = "; ".join(filter(None, (cell.label or cell.condition, cell.why)))
    return words if cell.label or cell.is_like else f"{words}: not comparable"


def _md_row(cells: Sequence[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(_md(cell) if escape and cell != "---" else cell for cell in cells) + " |"


def _md(text: str) -> str:
    """Text that no Markdown reader takes for markup or for the end of a cell."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)
    return " ".join(escaped.split())
