"""What files of a comparison hold beside the spec table: reported facts, results and stacks. No queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from django.utils.translation import gettext as _

from stackviz.base.units import from_si
from stackviz.draw.diagrams.drawing import RoleCell
from stackviz.draw.diagrams.stack import StackDrawing
from stackviz.pages.compare.host_files import csv_of_host, data_of_hosts, host_lead, host_lines, table_of_hosts
from stackviz.pages.compare.host_rows import HostResults
from stackviz.pages.compare.measured import Measured
from stackviz.pages.compare.measured_rows import MeasuredCell, MeasuredRow
from stackviz.pages.compare.subjects import Head, ProbedRow
from stackviz.records.series.comparability import is_accelerated
from stackviz.records.series.measurement import Measurement
from stackviz.web.http.address import write_moment
from stackviz.web.http.addresses import address_by_id


def without_history() -> list[str]:
    """What a comparison of the past leaves out, or shows as of today, each with the reason."""
    return [
        _("findings: the rules of today judge reports anew"),
        _("what others measured, results of other machines, and models that fit: they have no history"),
        _("what components need and call: they have no history"),
        _("reports that their lab has withdrawn since"),
        _("public hosts: as they are described today"),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileParts:
    """`heads`: of all subjects; `computers`: of machines and hosts, as `probed` has them; `columns`: slot -> place of
    its column in the drawing, none where no stack is drawn.

    `at`: the moment of a comparison of the past. `address`: of the page, which those of receipts are relative to.
    """

    heads: tuple[Head, ...]
    machines: tuple[Head, ...]
    computers: tuple[Head, ...]
    probed: tuple[ProbedRow, ...]
    measured: Measured
    hosts: HostResults | None
    drawing: StackDrawing
    columns: Mapping[int, int]
    at: datetime | None
    address: str

    @property
    def left_out(self) -> list[str]:
        """What the page shows and no file holds, and what a comparison of the past cannot show."""
        cited = [_("what others measured: see /benchmarks/")]
        return cited if self.at is None else [*cited, *without_history()]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a CSV file: the six columns that describe it, then slot -> the eight columns of its subject."""

    lead: tuple[str, ...]
    cells: dict[int, list[object]]


def file_rows(parts: FileParts) -> Iterator[FileRow]:
    """Facts as reported, results as measured and components as drawn, a row each, with the columns of the spec table.

    Last a row for each thing that is left out, with its name for a figure.
    """
    for fact in parts.probed:
        lead = (_("What the machines report"), "", fact.title, "", "", "probed")
        pairs = zip(parts.computers, fact.cells, strict=True)
        yield FileRow(lead, {head.slot: [cell.text or cell.missing, *[""] * 7] for head, cell in pairs})
    for row in parts.measured.rows:
        first = next(cell.result for cell in row.cells if cell.result)
        on = _kind_of(first)
        lead = (_("Measured"), first.benchmark_key, f"{row.title} {row.setting}", row.unit, on, "measured")
        yield FileRow(lead, {cell.slot: _csv_cell(cell, row, parts.address) for cell in row.cells})
    for line in host_lines(parts.hosts):
        yield FileRow(host_lead(line), {cell.slot: csv_of_host(cell, line, parts.address) for cell in line.cells})
    yield from _stack_rows(parts)
    for text in parts.left_out:
        yield FileRow((_("Not in this file"), "", text, "", "", "left-out"), {})


def _stack_rows(parts: FileParts) -> Iterator[FileRow]:
    """Sheets of one stack share a column of the drawing, and each has it here."""
    for layer in parts.drawing.layers:
        for row in layer.rows:
            if not row.role:
                continue
            lead = (f"{_('Stack')}: {layer.title}", row.role, row.title or layer.title, "", "", "stack")
            yield FileRow(lead, {slot: _csv_role(row.cells[column]) for slot, column in parts.columns.items()})


def _csv_role(cell: RoleCell) -> list[object]:
    """Names with versions, how each is known, where they are described, and what was found about them."""
    boxes = [placed.box for placed in cell.placed]
    if not boxes:
        return [cell.missing, *[""] * 6, cell.instead]
    states = dict.fromkeys(str(box.state) for box in boxes)
    sources = list(dict.fromkeys(box.source for box in boxes if box.source is not None))
    lines = [f"{line.lead}: {line.text}" if line.lead else line.text for each in cell.placed for line in each.lines]
    titles, urls = "; ".join(source.title for source in sources), " ".join(source.url for source in sources)
    return [_role_text(cell), "", "", "", ", ".join(states), titles, urls, "; ".join(lines)]


def _kind_of(result: Measurement) -> str:
    return "accelerator" if is_accelerated(result) else "processor"


def _csv_cell(cell: MeasuredCell, row: MeasuredRow, address: str) -> list[object]:
    result = cell.result
    if result is None:
        return [cell.missing, *[""] * 7]
    rate, receipt = result.rate, _receipt(result, address)
    if rate is None or not cell.text:
        return [cell.missing, "", "", result.device, "measured", _("receipt"), receipt, "; ".join(cell.remarks)]
    note = "; ".join(filter(None, (cell.spread, *cell.remarks, row.compared)))
    value = float(f"{from_si(rate.value, row.unit):.6g}")
    factor = cell.factor.removesuffix("×").replace(",", "")
    best = "yes" if cell.is_best else ""
    return [value, factor, best, result.device, "measured", _("receipt"), receipt, note]


def _receipt(result: Measurement, address: str) -> str:
    return urljoin(address, address_by_id("ingest:receipt", result.report_id))


# --- JSON ---


def parts_data(parts: FileParts) -> dict[str, Any]:
    """`reported`, `measured`, `hosts`, `stacks` and `left_out`, next to the rows of the spec table."""
    names = {head.slot: head.name for head in parts.machines}
    return {
        "reported": [
            {
                "title": row.title,
                "cells": [
                    {"subject": head.name, "text": cell.text or None, "missing": cell.missing if not cell.text else ""}
                    for head, cell in zip(parts.computers, row.cells, strict=True)
                ],
            }
            for row in parts.probed
        ],
        "measured": [_row_data(row, names, parts.address) for row in parts.measured.rows],
        "hosts": data_of_hosts(parts.hosts, parts.address),
        "stacks": _stack_data(parts.drawing),
        "left_out": parts.left_out,
    }


def _row_data(row: MeasuredRow, names: dict[int, str], address: str) -> dict[str, Any]:
    first = next(cell.result for cell in row.cells if cell.result)
    return {
        "benchmark": first.benchmark_key,
        "version": first.version,
        "title": row.title,
        "setting": row.setting,
        "params": dict(first.params),
        "on": _kind_of(first),
        "comparability": row.verdict.answer if row.verdict else None,
        "reasons": list(row.verdict.reasons) if row.verdict else [],
        "cells": [{"subject": names[cell.slot], **_cell_data(cell, address)} for cell in row.cells],
    }


def _cell_data(cell: MeasuredCell, address: str) -> dict[str, Any]:
    result = cell.result
    if result is None:
        return {"missing": cell.missing}
    rate = result.rate
    ran = {
        "device": result.device,
        "measured_at": write_moment(result.measured_at),
        "state": result.state,
        "remarks": list(cell.remarks),
        "receipt": _receipt(result, address),
    }
    if rate is None or not cell.text:
        return {"missing": cell.missing, **ran}
    return {
        "rate_si": rate.value,
        "low_si": rate.low,
        "high_si": rate.high,
        "unit_si": rate.unit,
        "text": cell.label,
        "share_of_peak": result.peak.share if result.peak else None,
        "samples": result.summary.count if result.summary else None,
        "factor": cell.factor or None,
        "is_better": cell.is_best,
        **ran,
    }


def _stack_data(drawing: StackDrawing) -> list[dict[str, Any]]:
    return [
        {
            "layer": layer.layer,
            "title": layer.title,
            "rows": [
                {
                    "role": row.role,
                    "title": row.title,
                    "differs": row.differs,
                    "cells": list(map(_role_data, row.cells)),
                }
                for row in layer.rows
            ],
        }
        for layer in drawing.layers
    ]


def _role_data(cell: RoleCell) -> dict[str, Any]:
    boxes = [
        {
            "component": placed.box.component,
            "name": placed.box.name,
            "version": placed.box.version or None,
            "state": placed.box.state,
            "lines": [line.text for line in placed.lines],
        }
        for placed in cell.placed
    ]
    return {"subject": cell.column.key, "title": cell.column.title, "boxes": boxes, "missing": cell.missing}


# --- Markdown: tables of text, a row of titles first ---


def parts_tables(parts: FileParts) -> Iterator[tuple[str, list[list[str]]]]:
    """(heading, rows of cells as plain text)"""
    names = [head.title for head in parts.machines]
    if parts.probed:
        rows = [[row.title, *(cell.text or cell.missing for cell in row.cells)] for row in parts.probed]
        yield _("What the machines report"), [[_("Fact"), *(head.title for head in parts.computers)], *rows]
    for kind in parts.measured.kinds:
        rows = [_text_row(row) for matrix, _chart in kind.matrices for row in matrix.rows]
        yield f"{_('Measured')}: {kind.title}", [[_("Setting"), *names, _("Comparability")], *rows]
    if parts.hosts is not None:
        yield _("Results on these hosts"), table_of_hosts(parts.hosts)
    for layer in parts.drawing.layers:
        titles = [column.title for column in parts.drawing.columns]
        stacked = [[row.title, *map(_role_text, row.cells)] for row in layer.rows]
        yield f"{_('Stack')}: {layer.title}", [["", *titles], *stacked]


def _text_row(row: MeasuredRow) -> list[str]:
    return [f"{row.title} {row.setting}".strip(), *map(_cell_text, row.cells), row.compared]


def _cell_text(cell: MeasuredCell) -> str:
    if not cell.text:
        return cell.missing
    remarks = f"({'; '.join(cell.remarks)})" if cell.remarks else ""
    return " ".join(filter(None, (cell.label, cell.factor, cell.peak, cell.spread, remarks)))


def _role_text(cell: RoleCell) -> str:
    texts = [" ".join(filter(None, (placed.box.name, placed.box.version))) for placed in cell.placed]
    return ", ".join(texts) or cell.missing


def further_heads(parts: FileParts, heads: Sequence[Head]) -> list[Head]:
    """The subjects without a column in the spec table: stacks, and machines whose cards no sheet matches."""
    of_table = {head.slot for head in heads}
    return [head for head in parts.heads if head.slot not in of_table]
