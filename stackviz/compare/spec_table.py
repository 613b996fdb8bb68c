"""The published part of a comparison: figures side by side under their groups, factors against a baseline, sources.

Rows of figures that follow from the published ones stand in the same form.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from django.utils.translation import gettext as _

from stackviz.catalog.derived import Derived
from stackviz.catalog.fields import FIELDS, GROUPS
from stackviz.catalog.spec_table import MissingValue, SpecCell, SpecColumn, SpecRow, spec_columns, table_of
from stackviz.compare.query import Address
from stackviz.compare.subjects import Head, Loaded, baseline
from stackviz.light import light_dataclass
from stackviz.units import format_factor, to_si
from stackviz.web.words import missing_text

DERIVED = "derived"


@light_dataclass(slots=True, kw_only=True)
class SheetCell:
    """A published figure beside the baseline's. `source`: number in the list of sources, 0 for none.

    `exact`: the figure in base units, where it says more than `text`.

    `missing`: why there is no figure under the row's condition, in words. Where there is one under another condition it
    stands in `text` and `condition`: beside, without factor or mark, for the two are not to be compared.
    """

    text: str = ""
    exact: str = ""
    basis: str = ""
    note: str = ""
    factor: str = ""
    is_best: bool = False
    source: int = 0
    amount: float | None = None
    missing: str = ""
    reason: str = ""
    condition: str = ""

    @property
    def is_published(self) -> bool:
        """There is a figure under the row's own condition."""
        return not self.missing

    @property
    def hover(self) -> str:
        return " · ".join(filter(None, (self.exact, self.note)))


@light_dataclass(slots=True)
class SheetRow:
    row: SpecRow
    cells: tuple[SheetCell, ...]

    @property
    def differs(self) -> bool:
        return self.row.differs

    @property
    def is_derived(self) -> bool:
        return self.row.group == DERIVED


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """Rows under one heading of the registry; the last group is of figures computed here."""

    name: str
    title: str
    rows: tuple[SheetRow, ...]


@dataclass(frozen=True, slots=True)
class NumberedSource:
    number: int
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheets:
    """The published part: one column per subject that has a sheet.

    `per_card`: slots whose sheet is of their cards. `base`: what factors are against. `groups`: the rows to show, all
    or only those that differ; `rows`: all of them.
    """

    heads: tuple[Head, ...]
    per_card: frozenset[int]
    base: Head | None
    groups: tuple[ComparedGroup, ...]
    rows: tuple[SheetRow, ...]
    sources: tuple[NumberedSource, ...]

    @property
    def differing_count(self) -> int:
        return sum(row.differs for row in self.rows)

    @property
    def alone_count(self) -> int:
        """Rows with a figure of one sheet alone: nothing to hold it against, so no difference either."""
        return sum(sum(cell.is_published for cell in row.cells) == 1 for row in self.rows)


def spec_rows(
    chosen: Sequence[Loaded], heads: Sequence[Head], address: Address
) -> tuple[tuple[SpecRow, ...], tuple[Head, ...]]:
    """(rows of the spec table, heads of its columns): subjects without a sheet have no column.

    One query; three for the figures of a past moment.
    """
    with_sheet = [
        (head, loaded.accelerator) for head, loaded in zip(heads, chosen, strict=True) if loaded.accelerator is not None
    ]
    if not with_sheet:
        return (), ()
    columns = spec_columns([accelerator for _head, accelerator in with_sheet], address.at)
    rows = without_repeated([*table_of(columns), *derived_rows(columns)])
    return rows, tuple(head for head, _accelerator in with_sheet)


def without_repeated(rows: Sequence[SpecRow]) -> tuple[SpecRow, ...]:
    """Leave out rows with a single figure that an earlier row already shows."""
    shown: set[tuple[str, str, int]] = set()
    distinct: list[SpecRow] = []
    for row in rows:
        filled = [index for index, cell in enumerate(row.cells) if cell is not None]
        if len(filled) == 1 and (row.field, row.condition, filled[0]) in shown:
            continue
        distinct.append(row)
        beside = ((index, why) for index, why in enumerate(row.missing) if why is not None and why.instead is not None)
        shown.update((row.field, why.condition, index) for index, why in beside)
    return tuple(distinct)


def sheets_of(chosen: Sequence[Loaded], heads: tuple[Head, ...], rows: Sequence[SpecRow], address: Address) -> Sheets:
    numbers: dict[tuple[str, str], int] = {}
    for cell in (cell for row in rows for cell in _shown(row) if cell.source_url):
        numbers.setdefault((cell.source_title, cell.source_url), len(numbers) + 1)
    base = baseline(heads, address)
    at = heads.index(base) if base else 0
    shown = tuple(SheetRow(row, _sheet_cells(row, at, numbers)) for row in rows)
    return Sheets(
        heads=heads,
        per_card=frozenset(head.slot for head in heads if chosen[head.slot].machine is not None),
        base=base,
        groups=_groups([row for row in shown if row.differs or not address.only_differences]),
        rows=shown,
        sources=tuple(NumberedSource(number, title, url) for (title, url), number in numbers.items()),
    )


def _shown(row: SpecRow) -> list[SpecCell]:
    """Every figure of the row, those under another condition included."""
    instead = (why.instead for why in row.missing if why is not None)
    return [cell for cell in (*row.cells, *instead) if cell is not None]


def _groups(rows: Sequence[SheetRow]) -> tuple[ComparedGroup, ...]:
    titles = {group.name: str(group.title) for group in GROUPS} | {DERIVED: _("Derived from these figures")}
    return tuple(
        ComparedGroup(name, titles[name], tuple(of_group))
        for name, of_group in groupby(rows, lambda line: line.row.group)
    )


def _sheet_cells(row: SpecRow, base: int, numbers: dict[tuple[str, str], int]) -> tuple[SheetCell, ...]:
    known = [cell.amount for cell in row.cells if cell is not None and cell.amount is not None]
    best = None if row.better is None or len(set(known)) < 2 else _best(known, higher=row.better)
    of_base = row.cells[base]
    against = of_base.amount if of_base is not None else None
    return tuple(
        _missing_cell(row, why, numbers)
        if cell is None
        else _sheet_cell(row, cell, None if slot == base else against, best, numbers)
        for slot, (cell, why) in enumerate(zip(row.cells, row.missing, strict=True))
    )


def _best(amounts: Sequence[float], *, higher: bool) -> float:
    return max(amounts) if higher else min(amounts)


def _sheet_cell(
    row: SpecRow, cell: SpecCell, base: float | None, best: float | None, numbers: dict[tuple[str, str], int]
) -> SheetCell:
    return SheetCell(
        text=cell.text,
        exact=cell.exact if _is_rounded(row, cell) else "",
        basis=cell.basis,
        note=cell.note,
        factor=format_factor(cell.amount / base) if base and cell.amount and cell.amount != base else "",
        is_best=best is not None and cell.amount == best,
        source=numbers.get((cell.source_title, cell.source_url), 0),
        amount=cell.amount,
    )


def _is_rounded(row: SpecRow, cell: SpecCell) -> bool:
    """Whether the exact figure says more than the one shown."""
    field = FIELDS.get(row.field)
    if field is None or cell.amount is None:
        return cell.exact != cell.text
    return _says_more(cell.amount, cell.text, field.unit)


@lru_cache(maxsize=4096)
def _says_more(amount: float, text: str, unit: str) -> bool:
    try:
        shown = to_si(float(text.replace(",", "")), unit)
    except ValueError:  # several variants
        return True
    return not math.isclose(shown, amount, rel_tol=1e-12)


def _missing_cell(row: SpecRow, why: MissingValue | None, numbers: dict[tuple[str, str], int]) -> SheetCell:
    why = why or MissingValue("not_published")
    if why.instead is None:
        return SheetCell(missing=why.detail or missing_text(why.reason), reason=why.reason)
    other = _sheet_cell(row, why.instead, None, None, numbers)
    return SheetCell(
        text=other.text,
        exact=other.exact,
        basis=other.basis,
        note=other.note,
        source=other.source,
        amount=other.amount,
        missing=_("under another condition"),
        reason=why.reason,
        condition=why.condition or _("condition not stated"),
    )


# --- rows of derived figures ---


def derived_rows(columns: Sequence[SpecColumn]) -> tuple[SpecRow, ...]:
    """A row for each derivation and condition that anybody's figures allow; only equal conditions share a row."""
    derivations = zip(*(column.derived for column in columns), strict=True)
    return tuple(row for figures in derivations for row in _derived_rows(figures))


def _derived_rows(figures: Sequence[Derived]) -> list[SpecRow]:
    """The rows of one derivation; `figures`: one for each accelerator."""
    conditions = dict.fromkeys(figure.condition for figure in figures if figure.amount is not None)
    return [_derived_row(figures, condition) for condition in conditions]


def _derived_row(figures: Sequence[Derived], condition: str) -> SpecRow:
    first = figures[0]
    return SpecRow(
        field=first.name,
        title=first.title,
        unit=first.unit,
        condition=condition,
        better=first.higher_is_better,
        cells=tuple(_derived_cell(figure) if _is_under(figure, condition) else None for figure in figures),
        meaning=first.formula,
        group=DERIVED,
        missing=tuple(None if _is_under(figure, condition) else _derived_missing(figure) for figure in figures),
    )


def _is_under(figure: Derived, condition: str) -> bool:
    return figure.amount is not None and figure.condition == condition


def _derived_cell(figure: Derived) -> SpecCell:
    return SpecCell(
        amount=figure.amount,
        text=figure.text,
        exact=figure.exact,
        basis="derived",
        source_title="",
        source_url="",
        note=figure.worked,
    )


def _derived_missing(figure: Derived) -> MissingValue:
    if figure.amount is None:
        return MissingValue("cannot_tell", detail=figure.reason)
    return MissingValue("other_condition", figure.condition, _derived_cell(figure))
