"""Reads across accelerators for pages and other rooms: constant query counts, frozen rows, figures already text."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from stackviz.catalog.conditions import describe
from stackviz.catalog.fields import ACCUMULATE_MATTERS, FIELDS, POSITION, UNNAMED_ACCUMULATE, Field
from stackviz.catalog.figures import (
    by_variant,
    in_unit_of,
    join_unnamed,
    joined,
    meaning_of,
    printed_unit,
    usual_values,
    variant_of,
)
from stackviz.catalog.models import Accelerator, SpecValue
from stackviz.catalog.past import public_values_at

# Names and machines are listed on the sheet; side by side they say nothing.
NOT_COMPARED = frozenset({"vendor", "nvml_name", "reported_name", "macs_shipped_in"})


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a cell has no figure. `reason`: a key of `web.words.MISSING`, or "other_condition".

    Then the product has `instead`, under `condition` (in words): to be shown, never to be compared. `detail`: more
    words, if there is more to say.
    """

    reason: str
    condition: str = ""
    instead: SpecCell | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SpecRow:
    """One field under one condition (in words), a cell per accelerator in the order asked.

    Where a cell is None, `missing` has the reason at the same place.
    """

    field: str
    title: str
    unit: str
    condition: str
    better: bool | None
    cells: tuple[SpecCell | None, ...]
    meaning: str = ""
    group: str = ""
    missing: tuple[Missing | None, ...] = ()

    @property
    def differs(self) -> bool:
        """Two of the figures are not the same. What one has and another has not is unknown, not different."""
        return len({cell.text for cell in self.cells if cell is not None}) > 1


@dataclass(frozen=True, slots=True)
class Headline:
    """A headline figure: `number` in `unit`, the field's own, so that a column can be read down.

    Empty where nothing is published. `amount` is in SI base units; of several variants it is the largest.
    """

    field: str
    title: str
    number: str
    unit: str
    exact: str
    condition: str
    basis: str
    amount: float | None

    @property
    def is_published(self) -> bool:
        return bool(self.number)

    @property
    def text(self) -> str:
        return f"{self.number} {self.unit}".rstrip() if self.number else ""


def public_accelerators() -> QuerySet[Accelerator]:
    """Accelerators anybody may see, with their vendors."""
    return Accelerator.objects.filter(is_public=True).select_related("vendor")


def accelerators_by_slug(slugs: Iterable[str]) -> dict[str, Accelerator]:
    """The public accelerators with these slugs; unknown ones are absent. One query."""
    return {accelerator.slug: accelerator for accelerator in public_accelerators().filter(slug__in=set(slugs))}


def preferred_values(accelerator_ids: Iterable[int]) -> QuerySet[SpecValue]:
    """The public, preferred values of those of these accelerators that are public, with their sources."""
    return SpecValue.objects.filter(
        accelerator__in=set(accelerator_ids),
        accelerator__is_public=True,
        is_preferred=True,
        status=SpecValue.Status.PUBLIC,
    ).select_related("source")


def spec_table(accelerators: Sequence[Accelerator], skip: frozenset[str] = NOT_COMPARED) -> tuple[SpecRow, ...]:
    """Every field any of them publishes, rows in registry order, a cell per accelerator. One query.

    | field                 | condition | H100 SXM | M3 Max 40 |
    | memory_bandwidth_gb_s |           | 3,350    | 400       |
    | bf16_tensor_tflops    | dense     | 989.4    | None      |

    Only figures of the same condition share a row; variants of one product (memory sizes) share a cell.
    """
    return table_of(accelerators, compared_values(accelerators), skip)


def compared_values(accelerators: Sequence[Accelerator], at: datetime | None = None) -> list[SpecValue]:
    """The preferred values of these accelerators, smallest first. One query; three as they stood `at` a moment."""
    pks = [accelerator.pk for accelerator in accelerators]
    if at is None:
        return list(preferred_values(pks).order_by("amount", "value", "pk"))
    then = [value for value in public_values_at(pks, at) if value.is_preferred]
    return sorted(then, key=lambda value: (value.amount or 0.0, value.value, value.pk))


def table_of(
    accelerators: Sequence[Accelerator], values: Sequence[SpecValue], skip: frozenset[str] = NOT_COMPARED
) -> tuple[SpecRow, ...]:
    """`spec_table` of values that were read already. No query where the accelerators have their makers loaded."""
    by_row: _Rows = defaultdict(lambda: defaultdict(list))
    for value in values:
        if value.field in FIELDS and value.field not in skip:
            by_row[value.field, meaning_of(value)][value.accelerator_id].append(value)
    unnamed = _join_unnamed_accumulate(by_row)
    order = sorted(by_row, key=lambda row: (POSITION[row[0]], condition_rank(FIELDS[row[0]], row[1]), row[1]))
    rows = [
        _row(FIELDS[name], condition, [by_row[name, condition].get(item.pk, []) for item in accelerators], unnamed)
        for name, condition in order
    ]
    return tuple(replace(row, missing=_missing(row, rows, accelerators)) for row in rows)


def _missing(row: SpecRow, rows: Sequence[SpecRow], accelerators: Sequence[Accelerator]) -> tuple[Missing | None, ...]:
    of_field = [other for other in rows if other.field == row.field]
    return tuple(
        None if cell is not None else _why_missing(row, of_field, place, accelerator)
        for place, (cell, accelerator) in enumerate(zip(row.cells, accelerators, strict=True))
    )


def _why_missing(row: SpecRow, of_field: Sequence[SpecRow], place: int, accelerator: Accelerator) -> Missing:
    """The field's figure under the condition most like the row's; or that there is none, or can be none."""
    others = [other for other in of_field if other.cells[place] is not None]
    if others:
        nearest = max(others, key=lambda other: _likeness(other.condition, row.condition))
        return Missing("other_condition", nearest.condition, nearest.cells[place])
    if not FIELDS[row.field].applies_to(accelerator.vendor.slug, accelerator.kind):
        return Missing("does_not_apply")
    return Missing("not_published")


def _likeness(one: str, other: str) -> int:
    """In how many parts two conditions, in words, agree."""
    return len(set(one.split(", ")) & set(other.split(", ")))


_Rows = dict[tuple[str, str], dict[int, list[SpecValue]]]  # (field, condition) -> accelerator id -> its variants


def _join_unnamed_accumulate(by_row: _Rows) -> set[int]:
    """`join_unnamed` for rows that are there under both conditions. -> ids of the values that moved."""
    moved: set[int] = set()
    for name in ACCUMULATE_MATTERS:
        for condition, read_as in UNNAMED_ACCUMULATE.items():
            plain, named = (name, condition), (name, read_as)
            if plain not in by_row or named not in by_row:
                continue
            for pk in join_unnamed(by_row[plain], by_row[named]):
                moved.update(value.pk for value in by_row[named][pk])
            if not by_row[plain]:
                del by_row[plain]
    return moved


def condition_rank(field: Field, condition: str) -> int:
    """Where a condition stands among a field's usual ones; the usual come first."""
    return field.usual.index(condition) if condition in field.usual else len(field.usual)


def _row(field: Field, condition: str, values: Sequence[list[SpecValue]], unnamed: set[int]) -> SpecRow:
    return SpecRow(
        field=field.name,
        title=field.words[0],
        unit=printed_unit(field.unit),
        condition=describe(condition),
        better=field.higher_is_better,
        cells=tuple(_cell(field, of_one, unnamed) for of_one in values),
        meaning=field.words[1],
        group=field.group,
    )


def _cell(field: Field, values: Sequence[SpecValue], unnamed: set[int]) -> SpecCell | None:
    """The values of one accelerator as one cell: the plain one, or else all its variants; None for no value."""
    if not values:
        return None
    chosen = [value for value in values if not variant_of(value)] or list(values)
    cells = [_single_cell(field, value, is_unnamed=value.pk in unnamed) for value in chosen]
    if len(cells) == 1:
        return cells[0]
    return replace(
        cells[-1],
        text=joined([cell.text for cell in cells]),
        exact=joined([cell.exact for cell in cells]),
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
        note="; ".join(filter(None, [describe(variant_of(value)), remark, value.note])),
    )


def headline(field: Field, values: Sequence[SpecValue]) -> Headline:
    """The figure of one field to show first, out of an accelerator's preferred values of it."""
    usual = usual_values(field, values)
    if not usual:
        return Headline(field.name, field.words[0], "", printed_unit(field.unit), "", "", "", None)
    shown = [in_unit_of(field, value) for value in usual]
    return Headline(
        field=field.name,
        title=field.words[0],
        number=joined([figure.text for figure in shown]),
        unit=printed_unit(field.unit),
        exact=joined([figure.exact for figure in shown]),
        condition=describe(meaning_of(usual[0])),
        basis=usual[0].basis,
        amount=usual[-1].amount,
    )


def peaks(accelerator_ids: Iterable[int]) -> dict[tuple[int, str, str], float]:
    """(accelerator id, field, canonical condition) -> published amount in SI base units. One query.

    `usual_peak` picks from it the figure a measurement is held against.
    """
    found = preferred_values(accelerator_ids).filter(amount__isnull=False)
    rows = found.select_related(None).values_list("accelerator_id", "field", "condition", "amount")
    return {(pk, field, condition): amount for pk, field, condition, amount in rows if amount is not None}


def peaks_of(values: Iterable[SpecValue]) -> dict[tuple[int, str, str], float]:
    """What `peaks` reads, of values that were read already."""
    return {
        (value.accelerator_id, value.field, value.condition): value.amount
        for value in values
        if value.amount is not None
    }


def usual_peak(
    found: Mapping[tuple[int, str, str], float], accelerator_id: int, field: str
) -> tuple[str, float] | None:
    """(condition, amount) under the first of the field's usual conditions that is published, or None.

    For fp16 on tensor cores that is the dense rate with fp32 accumulate, which is what cuBLAS and PyTorch do; a source
    that does not name the accumulate type (cards where it does not matter) comes next.
    """
    for condition in FIELDS[field].usual:
        amount = found.get((accelerator_id, field, condition))
        if amount is not None:
            return condition, amount
    return None


def successors(slug: str) -> list[Accelerator]:
    """The public sheets a chip's name stands for: the variants of `m3-max`, the one sheet of `m6`. One query."""
    return list(public_accelerators().filter(Q(family=slug) | Q(slug=f"apple-{slug}")).order_by("slug"))
