"""The published part of a comparison: figures side by side, factors against the first, numbered sources."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.catalog.queries import SpecCell, SpecRow, spec_table
from stackviz.compare.heads import Head
from stackviz.compare.subjects import Loaded
from stackviz.units import format_factor


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A published figure beside the baseline's. `source`: number in the list of sources, 0 for none."""

    text: str = ""
    exact: str = ""
    basis: str = ""
    note: str = ""
    factor: str = ""
    is_best: bool = False
    source: int = 0


@dataclass(frozen=True, slots=True)
class SheetRow:
    row: SpecRow
    cells: tuple[SheetCell | None, ...]

    @property
    def differs(self) -> bool:
        return self.row.differs


@dataclass(frozen=True, slots=True)
class Source:
    number: int
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Sheets:
    """The published part: one column per subject that has a sheet. `per_card`: places whose sheet is of their cards."""

    heads: tuple[Head, ...]
    per_card: frozenset[int]
    rows: tuple[SheetRow, ...]
    sources: tuple[Source, ...]

    @property
    def differing_count(self) -> int:
        return sum(row.differs for row in self.rows)


def spec_rows(chosen: Sequence[Loaded], heads: Sequence[Head]) -> tuple[tuple[SpecRow, ...], tuple[Head, ...]]:
    """(rows of the spec table, heads of its columns): subjects without a sheet have no column."""
    with_sheet = [
        (head, loaded.accelerator) for head, loaded in zip(heads, chosen, strict=True) if loaded.accelerator is not None
    ]
    rows = spec_table([accelerator for _head, accelerator in with_sheet]) if with_sheet else ()
    return rows, tuple(head for head, _accelerator in with_sheet)


def sheets_of(chosen: Sequence[Loaded], heads: tuple[Head, ...], rows: Sequence[SpecRow]) -> Sheets:
    numbers: dict[tuple[str, str], int] = {}
    for cell in (cell for row in rows for cell in row.cells if cell is not None and cell.source_url):
        numbers.setdefault((cell.source_title, cell.source_url), len(numbers) + 1)
    per_card = frozenset(head.place for head in heads if chosen[head.place].machine is not None)
    sources = tuple(Source(number, title, url) for (title, url), number in numbers.items())
    return Sheets(heads, per_card, tuple(SheetRow(row, _sheet_cells(row, numbers)) for row in rows), sources)


def _sheet_cells(row: SpecRow, numbers: dict[tuple[str, str], int]) -> tuple[SheetCell | None, ...]:
    known = [cell.amount for cell in row.cells if cell is not None and cell.amount]
    best = None if row.better is None or len(known) < 2 or len(set(known)) == 1 else _best(known, higher=row.better)
    base = row.cells[0].amount if row.cells and row.cells[0] is not None else None
    return tuple(
        None if cell is None else _sheet_cell(cell, base if place else None, best, numbers)
        for place, cell in enumerate(row.cells)
    )


def _best(amounts: Sequence[float], *, higher: bool) -> float:
    return max(amounts) if higher else min(amounts)


def _sheet_cell(
    cell: SpecCell, base: float | None, best: float | None, numbers: dict[tuple[str, str], int]
) -> SheetCell:
    return SheetCell(
        text=cell.text,
        exact=cell.exact,
        basis=cell.basis,
        note=cell.note,
        factor=format_factor(cell.amount / base) if base and cell.amount and cell.amount != base else "",
        is_best=best is not None and cell.amount == best,
        source=numbers.get((cell.source_title, cell.source_url), 0),
    )
