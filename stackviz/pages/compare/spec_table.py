"""The published part of a comparison: figures side by side under their groups, factors against a baseline, sources.

Rows of figures that follow from the published ones stand in the same form.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.base.units import format_factor, to_si
from stackviz.pages.compare.drivers import with_drivers
from stackviz.pages.compare.prices import with_prices
from stackviz.pages.compare.query import Address
from stackviz.pages.compare.subjects import Head, Loaded, baseline
from stackviz.records.catalog.derived import Derived
from stackviz.records.catalog.fields import FIELDS, GROUPS
from stackviz.records.catalog.joined import join_rows
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.spec_table import MissingValue, SpecCell, SpecColumn, SpecRow, spec_columns, table_of
from stackviz.web.i18n.words import missing_text

DERIVED = "derived"


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
        return MissingValue(reason="cannot_tell", detail=figure.reason)
    return MissingValue(reason="other_condition", condition=figure.condition, instead=_derived_cell(figure))


@light_dataclass(slots=True, kw_only=True)
class SheetCell:
    """A published figure compared with the baseline's. `source`: number in the list of sources, 0 for none.

    `exact`: the figure in base units, where it says more than `text`.

    `missing`: why there is no figure under the row's condition, in words. Where there is one under another condition it
    stands in `text` and `condition`: beside, without factor or mark, for the two are not to be compared. So does one of
    another `field` of the same meaning, with `why` there is none of the row's own; the factor is between figures of
    one kind. `label`: what the figure is called where fields share the row; `is_like`: another is of its kind.
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
    label: str = ""
    field: str = ""
    why: str = ""
    why_source: int = 0
    is_like: bool = False

    @property
    def is_published(self) -> bool:
        """There is a figure under the row's own condition."""
        return not self.missing

    @property
    def hover(self) -> str:
        return " · ".join(filter(None, (self.exact, self.note)))


@light_dataclass(slots=True)
class SheetRow:
    """`alone`: the place of the only column with a figure; None where there are several."""

    row: SpecRow
    cells: tuple[SheetCell, ...]
    alone: int | None

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
class AloneRows:
    """The rows in which only this subject has a figure."""

    head: Head
    groups: tuple[ComparedGroup, ...]

    @property
    def count(self) -> int:
        return sum(len(group.rows) for group in self.groups)


@dataclass(frozen=True, slots=True)
class NumberedSource:
    number: int
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheets:
    """The published part: a column per subject that has a sheet, or one for all subjects with the same.

    `also`: slot of a column -> the others that it stands for. `per_card`: slots whose sheet is of their cards. `base`:
    what factors are against. `groups`: the rows to show, all or only those that differ; `rows`: all of them. Of the
    rows to show, the page leads with `shared`, in which several subjects have a figure, and folds those of one alone.
    """

    heads: tuple[Head, ...]
    also: Mapping[int, tuple[Head, ...]]
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
        return sum(row.alone is not None for row in self.rows)

    @property
    def shared(self) -> tuple[ComparedGroup, ...]:
        """Without a second sheet there is nothing to fold."""
        return self._groups_of(None) if len(self.heads) > 1 else self.groups

    @property
    def folded(self) -> tuple[AloneRows, ...]:
        if len(self.heads) < 2:
            return ()
        folded = (AloneRows(head, self._groups_of(column)) for column, head in enumerate(self.heads))
        return tuple(rows for rows in folded if rows.groups)

    def _groups_of(self, alone: int | None) -> tuple[ComparedGroup, ...]:
        groups = (
            ComparedGroup(group.name, group.title, tuple(row for row in group.rows if row.alone == alone))
            for group in self.groups
        )
        return tuple(group for group in groups if group.rows)


def spec_rows(
    chosen: Sequence[Loaded], heads: Sequence[Head], address: Address, *, repeats: bool = False
) -> tuple[tuple[SpecRow, ...], tuple[Head, ...]]:
    """(rows of the spec table, heads of its columns): subjects without a sheet have no column.

    A sheet that several subjects have, such as a machine and its accelerator, has one column, of the first of them;
    with `repeats` each has its own. One query; five for the figures and prices of a past moment.
    """
    shown: set[int] = set()
    with_sheet: list[tuple[Head, Accelerator]] = []
    for head, loaded in zip(heads, chosen, strict=True):
        if loaded.accelerator is not None and (repeats or loaded.accelerator.pk not in shown):
            shown.add(loaded.accelerator.pk)
            with_sheet.append((head, loaded.accelerator))
    if not with_sheet:
        return (), ()
    columns = spec_columns([accelerator for _head, accelerator in with_sheet], address.at)
    published = with_prices(join_rows(table_of(columns)), columns, address.at)
    if address.at is None:  # the tables of drivers keep no past
        published = with_drivers(published, columns)
    rows = without_repeated([*published, *derived_rows(columns)])
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
        shown.update((why.field or row.field, why.condition, index) for index, why in beside)
    return tuple(distinct)


def sheets_of(
    chosen: Sequence[Loaded],
    heads: Sequence[Head],
    columns: tuple[Head, ...],
    rows: Sequence[SpecRow],
    address: Address,
) -> Sheets:
    """`heads`: of all subjects; `columns`: those of `rows`, which the page may show fewer of."""
    numbers: dict[tuple[str, str], int] = {}
    for source in (source for row in rows for source in _sources(row) if source[1]):
        numbers.setdefault(source, len(numbers) + 1)
    also = _also(chosen, heads, columns)
    wanted = baseline(heads, address)
    base = next(
        (head for head in columns if wanted in (head, *also.get(head.slot, ()))), columns[0] if columns else None
    )
    at = columns.index(base) if base else 0
    shown = tuple(_sheet_row(row, at, numbers) for row in rows)
    return Sheets(
        heads=columns,
        also=also,
        per_card=frozenset(head.slot for head in heads if chosen[head.slot].has_cards),
        base=base,
        groups=_groups([row for row in shown if row.differs or not address.only_differences]),
        rows=shown,
        sources=tuple(NumberedSource(number, title, url) for (title, url), number in numbers.items()),
    )


def _also(chosen: Sequence[Loaded], heads: Sequence[Head], columns: Sequence[Head]) -> dict[int, tuple[Head, ...]]:
    """Slot of a column -> the subjects without a column of their own whose sheet it is."""
    further = [head for head in heads if head not in columns]
    of_columns = {head.slot: chosen[head.slot].accelerator for head in columns}
    return {
        slot: tuple(head for head in further if chosen[head.slot].accelerator == sheet)
        for slot, sheet in of_columns.items()
    }


def _sources(row: SpecRow) -> list[tuple[str, str]]:
    """(title, address) of every figure of the row, substitutes included, and of reasons why there is none."""
    sources = [(cell.source_title, cell.source_url) for cell in row.cells if cell is not None]
    for why in row.missing:
        if why is not None:
            sources += [(cell.source_title, cell.source_url) for cell in (why.instead,) if cell is not None]
            sources.append((why.source_title, why.source_url))
    return sources


def _groups(rows: Sequence[SheetRow]) -> tuple[ComparedGroup, ...]:
    titles = {group.name: str(group.title) for group in GROUPS} | {DERIVED: _("Derived from these figures")}
    return tuple(
        ComparedGroup(name, titles[name], tuple(of_group))
        for name, of_group in groupby(rows, lambda line: line.row.group)
    )


def _sheet_row(row: SpecRow, base: int, numbers: dict[tuple[str, str], int]) -> SheetRow:
    cells = _sheet_cells(row, base, numbers)
    filled = [column for column, cell in enumerate(cells) if cell.text]
    return SheetRow(row, cells, filled[0] if len(filled) == 1 else None)


def _sheet_cells(row: SpecRow, base: int, numbers: dict[tuple[str, str], int]) -> tuple[SheetCell, ...]:
    known = [cell.amount for cell in row.cells if cell is not None and cell.amount is not None]
    best = None if row.better is None or len(set(known)) < 2 else _best(known, higher=row.better)
    return tuple(
        _missing_cell(row, slot, numbers, _factor(row, slot, base) if row.joined else "")
        if cell is None
        else _sheet_cell(row, cell, _factor(row, slot, base), best, numbers, row.labels[slot] if row.labels else "")
        for slot, cell in enumerate(row.cells)
    )


def _best(amounts: Sequence[float], *, higher: bool) -> float:
    return max(amounts) if higher else min(amounts)


def _factor(row: SpecRow, slot: int, base: int) -> str:
    """How many times the figure of the baseline; "" where they are equal, or not of one kind under one condition."""
    if slot == base or (row.joined and row.kinds[slot] != row.kinds[base]):
        return ""
    cells = row.shown if row.joined else row.cells
    cell, against = cells[slot], cells[base]
    if cell is None or against is None or not cell.amount or not against.amount or cell.amount == against.amount:
        return ""
    return format_factor(cell.amount / against.amount)


def _sheet_cell(
    row: SpecRow, cell: SpecCell, factor: str, best: float | None, numbers: dict[tuple[str, str], int], label: str = ""
) -> SheetCell:
    return SheetCell(
        text=cell.text,
        exact=cell.exact if _is_rounded(row, cell) else "",
        basis=cell.basis,
        note=cell.note,
        factor=factor,
        is_best=best is not None and cell.amount == best,
        source=numbers.get((cell.source_title, cell.source_url), 0),
        amount=cell.amount,
        label=label,
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


def _missing_cell(row: SpecRow, slot: int, numbers: dict[tuple[str, str], int], factor: str) -> SheetCell:
    why = row.missing[slot] or MissingValue(reason="not_published")
    reason = why.detail or missing_text(why.reason)
    source = numbers.get((why.source_title, why.source_url), 0)
    if why.instead is None:
        return SheetCell(missing=reason, reason=why.reason, source=source)
    other = _sheet_cell(row, why.instead, factor, None, numbers)
    return replace(
        other,
        missing=reason if why.field else _("under another condition"),
        reason=why.reason,
        condition=why.condition or _("condition not stated"),
        field=why.field,
        why=why.detail if why.field else "",
        why_source=source,
        is_like=bool(row.joined) and row.kinds.count(row.kinds[slot]) > 1,
    )
