"""Spec sheets side by side: a row for each field and condition, a cell for each accelerator, figures already text."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.base.units import unit_label
from stackviz.records.catalog.absences import Absence, absences_of
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.costs import Cost
from stackviz.records.catalog.derived import Derived, derive
from stackviz.records.catalog.fields import ACCUMULATE_MATTERS, DENSE, FIELDS, POSITION, UNNAMED_ACCUMULATE, Field
from stackviz.records.catalog.figures import (
    base_condition,
    by_variant,
    condition_rank,
    in_unit_of,
    join_variants,
    variant_of,
)
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.past import public_values_at
from stackviz.records.catalog.queries import PublicCatalogue, peaks_of, public_catalogue
from stackviz.web.i18n.curated_text import curated_words

# Names and machines are listed on the sheet; comparing them is meaningless.
NOT_COMPARED = frozenset({"vendor", "nvml_name", "reported_name", "macs_shipped_in"})

RowKey = tuple[str, str]  # field, canonical condition without the keys that vary


@light_dataclass(slots=True, kw_only=True)
class SpecCell:
    """One accelerator's figure in a comparison. `text` is in the row's unit; `amount` in SI base units, None for text.

    Where the product comes in variants, `text` lists them ("48 / 64 / 128"), `amount` is the largest.
    """

    amount: float | None
    text: str
    exact: str
    basis: str
    source_title: str
    source_url: str
    note: str


@light_dataclass(slots=True, kw_only=True)
class MissingValue:
    """Why a cell has no figure. `reason`: a key of `web.words.MISSING`, or "other_condition".

    Then the product has `instead`, under `condition` (in words): to be shown, never to be compared. `field`: which
    other field that is of. `detail`: the reason in words of its own, as its source says.
    """

    reason: str
    condition: str = ""
    instead: SpecCell | None = None
    detail: str = ""
    field: str = ""
    source_title: str = ""
    source_url: str = ""


@light_dataclass(slots=True, kw_only=True)
class SpecRow:
    """One field under one condition (in words), a cell per accelerator in the requested order.

    Where a cell is None, `missing` has the reason at the same index. `under`: the condition as it is stored.

    `joined`: the meaning whose fields share the row, "" for a row of one field. Then `labels` has what each
    accelerator's figure is called, and `kinds` what it counts: figures of one kind are compared. `costs`: of a row of
    prices the answers that its figures are.
    """

    field: str
    title: str
    unit: str
    condition: str
    better: bool | None
    cells: tuple[SpecCell | None, ...]
    meaning: str = ""
    group: str = ""
    missing: tuple[MissingValue | None, ...] = ()
    under: str = ""
    joined: str = ""
    labels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    costs: tuple[Cost | None, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether two of the figures differ. A missing figure is unknown, not different."""
        cells = self.shown if self.joined else self.cells
        return len({cell.text for cell in cells if cell is not None}) > 1

    @property
    def shown(self) -> tuple[SpecCell | None, ...]:
        """The figure of each accelerator, or the one that stands in for it."""
        return tuple(
            why.instead if cell is None and why is not None else cell
            for cell, why in zip(self.cells, self.missing, strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class SpecColumn:
    """All that one accelerator publishes, in the reader's language: its cells by row, the values behind them, what
    follows from them, and why fields are absent that it cannot have."""

    accelerator: Accelerator
    values: Mapping[RowKey, Sequence[SpecValue]]
    cells: Mapping[RowKey, SpecCell]
    derived: tuple[Derived, ...]
    absences: Mapping[str, Absence]


def spec_table(accelerators: Sequence[Accelerator], skip: frozenset[str] = NOT_COMPARED) -> tuple[SpecRow, ...]:
    """Every field any of them publishes, rows in registry order, a cell per accelerator. One query.

    | field                 | condition | H100 SXM | M3 Max 40 |
    | memory_bandwidth_gb_s |           | 3,350    | 400       |
    | bf16_tensor_tflops    | dense     | 989.4    | None      |

    Only figures of the same condition share a row; variants of one product (memory sizes) share a cell.
    """
    return table_of(spec_columns(accelerators), skip)


def spec_columns(accelerators: Sequence[Accelerator], at: datetime | None = None) -> list[SpecColumn]:
    """The published values of each of these accelerators. One query; three for a moment `at`."""
    if at is None:
        catalogue = public_catalogue()
        return [_current_column(item, catalogue) for item in accelerators]
    by_accelerator: dict[int, list[SpecValue]] = defaultdict(list)
    for value in public_values_at([item.pk for item in accelerators], at):
        if value.is_preferred:
            by_accelerator[value.accelerator_id].append(value)
    for values in by_accelerator.values():
        values.sort(key=lambda value: (value.amount or 0.0, value.value, value.pk))
    return [column_of(item, by_accelerator[item.pk]) for item in accelerators]


def _current_column(item: Accelerator, catalogue: PublicCatalogue) -> SpecColumn:
    """Written once for each edition and language."""
    key = ("spec column", item.pk, get_language())
    return catalogue.cached(key) or catalogue.keep(key, column_of(item, catalogue.preferred_values(item.pk)))


def column_of(item: Accelerator, values: Iterable[SpecValue]) -> SpecColumn:
    """What follows from these public values of an accelerator: preferred ones, smallest first."""
    by_row: dict[RowKey, list[SpecValue]] = defaultdict(list)
    for value in values:
        if value.field in FIELDS:
            by_row[value.field, base_condition(value)].append(value)
    cells = {key: _cell(FIELDS[key[0]], row_values) for key, row_values in by_row.items()}
    absences = absences_of(item, by_row)
    peaks = peaks_of(value for row_values in by_row.values() for value in row_values)
    derived = derive(peaks, item.pk, {name: absence.words for name, absence in absences.items()})
    return SpecColumn(item, by_row, cells, derived, absences)


def table_of(columns: Sequence[SpecColumn], skip: frozenset[str] = NOT_COMPARED) -> tuple[SpecRow, ...]:
    """`spec_table` of columns that were read already."""
    by_row: _Rows = defaultdict(dict)
    for index, column in enumerate(columns):
        for key, cell in column.cells.items():
            if key[0] not in skip:
                by_row[key][index] = cell
    _join_unnamed_accumulate(by_row, columns)
    of_field: dict[str, list[_Under]] = defaultdict(list)
    for name, condition in sorted(by_row, key=_reading_order):
        of_field[name].append((condition, describe_condition(condition), by_row[name, condition]))
    return tuple(_row(FIELDS[name], under, rows, columns) for name, rows in of_field.items() for under in rows)


_Cells = dict[int, SpecCell]  # place of the column -> its cell
_Rows = dict[RowKey, _Cells]
_Under = tuple[str, str, _Cells]  # a condition as stored, in words, the cells under it


def _reading_order(key: RowKey) -> tuple[int, int, str]:
    name, condition = key
    return POSITION[name], condition_rank(FIELDS[name], condition), condition


def _row(field: Field, under: _Under, of_field: Sequence[_Under], columns: Sequence[SpecColumn]) -> SpecRow:
    """The row of a field under one of its conditions; `of_field`: all of them."""
    title, meaning = field.words
    stored, condition, cells = under
    return SpecRow(
        field=field.name,
        title=title,
        unit=unit_label(field.unit),
        condition=condition,
        better=field.higher_is_better,
        cells=tuple(cells.get(index) for index in range(len(columns))),
        meaning=meaning,
        group=field.group,
        missing=tuple(
            None if index in cells else _nearest(condition, of_field, index) or _without_figure(field, stored, column)
            for index, column in enumerate(columns)
        ),
        under=stored,
    )


def _nearest(condition: str, of_field: Sequence[_Under], index: int) -> MissingValue | None:
    """The field's figure in this column under the condition most like the row's; None if there is none."""
    others = [(other, cells[index]) for _stored, other, cells in of_field if index in cells]
    if not others:
        return None
    nearest, cell = max(others, key=lambda other: _likeness(other[0], condition))
    return MissingValue(reason="other_condition", condition=nearest, instead=cell)


def _without_figure(field: Field, condition: str, column: SpecColumn) -> MissingValue:
    absence = column.absences.get(field.name)
    if absence is None:
        accelerator = column.accelerator
        applies = field.applies_to(accelerator.vendor.slug, accelerator.kind)
        return MissingValue(reason="not_published" if applies else "does_not_apply")
    bound = column.cells.get((absence.at_most, DENSE)) if absence.bounds(condition) else None
    return MissingValue(
        reason="does_not_apply",
        condition=str(absence.at_most_words) if bound else "",
        instead=replace(bound, basis=SpecValue.Basis.DERIVED.value) if bound else None,
        detail=absence.words,
        field=absence.at_most if bound else "",
        source_title=absence.source_title,
        source_url=absence.source_url,
    )


@lru_cache(maxsize=4096)
def _likeness(first: str, second: str) -> int:
    """In how many parts two conditions, in words, agree."""
    return len(set(first.split(", ")) & set(second.split(", ")))


def _join_unnamed_accumulate(by_row: _Rows, columns: Sequence[SpecColumn]) -> None:
    """Bring rates without an accumulate type beside those with fp32, where a row of each is there.

    Sources name the type only for cards on which it matters; for the others the one rate printed is that with fp32
    accumulate. A rate that moved says that its source does not name the type.
    """
    for name in ACCUMULATE_MATTERS:
        for condition, read_as in UNNAMED_ACCUMULATE.items():
            plain, named = (name, condition), (name, read_as)
            if plain not in by_row or named not in by_row:
                continue
            for index in [index for index in by_row[plain] if index not in by_row[named]]:
                del by_row[plain][index]
                by_row[named][index] = _cell(FIELDS[name], columns[index].values[plain], is_unnamed=True)
            if not by_row[plain]:
                del by_row[plain]


def _cell(field: Field, values: Sequence[SpecValue], *, is_unnamed: bool = False) -> SpecCell:
    """The values of one accelerator as one cell: the plain one, or else all its variants."""
    chosen = [value for value in values if not variant_of(value)] or list(values)
    cells = [_single_cell(field, value, is_unnamed=is_unnamed) for value in chosen]
    if len(cells) == 1:
        return cells[0]
    return replace(
        cells[-1],
        text=join_variants([cell.text for cell in cells]),
        exact=join_variants([cell.exact for cell in cells]),
        note=by_variant(chosen),
    )


def _single_cell(field: Field, value: SpecValue, *, is_unnamed: bool) -> SpecCell:
    remark = _("the source does not name the accumulate type") if is_unnamed else ""
    shown = in_unit_of(field, value)
    return SpecCell(
        amount=value.amount,
        text=shown.text,
        exact=shown.exact,
        basis=value.basis,
        source_title=value.source.title if value.source else "",
        source_url=value.source.url if value.source else "",
        note="; ".join(filter(None, [describe_condition(variant_of(value)), remark, curated_words(value.note)])),
    )
