"""Reads across accelerators for pages and other rooms: constant query counts, frozen rows, figures already text."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from stackviz.catalog.conditions import describe, split_variants
from stackviz.catalog.fields import FIELDS, HEADLINES, POSITION, Field
from stackviz.catalog.models import Accelerator, Alias, SpecValue
from stackviz.catalog.names import normalized
from stackviz.units import UNITS, format_in, format_quantity

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
class SpecRow:
    """One field under one condition (in words), a cell per accelerator in the order asked; None is not published."""

    field: str
    title: str
    unit: str
    condition: str
    better: bool | None
    cells: tuple[SpecCell | None, ...]
    meaning: str = ""
    group: str = ""

    @property
    def differs(self) -> bool:
        return len({cell.text if cell else None for cell in self.cells}) > 1


@dataclass(frozen=True, slots=True)
class Headline:
    """A headline figure for lists: `text` with unit scaled for people, "" where nothing is published."""

    field: str
    title: str
    text: str
    exact: str
    condition: str
    basis: str
    amount: float | None

    @property
    def is_published(self) -> bool:
        return bool(self.text)


def public_accelerators() -> QuerySet[Accelerator]:
    """Accelerators anybody may see, with their vendors."""
    return Accelerator.objects.filter(is_public=True).select_related("vendor")


def accelerators_by_slug(slugs: Iterable[str]) -> dict[str, Accelerator]:
    """The public accelerators with these slugs; unknown ones are absent. One query."""
    return {accelerator.slug: accelerator for accelerator in public_accelerators().filter(slug__in=set(slugs))}


def matching_accelerators(q: str = "", vendor: str = "", kind: str = "") -> QuerySet[Accelerator]:
    """Public accelerators by name. `q` finds words of the name and names that cards, Macs and tools report."""
    found = public_accelerators().order_by("name")
    if vendor:
        found = found.filter(vendor__slug=vendor)
    if kind:
        found = found.filter(kind=kind)
    words = normalized(q)
    if words:
        in_name = Q()
        for word in words.split():
            in_name &= Q(name__icontains=word)
        named = Alias.objects.filter(normalized__contains=words).values("accelerator")
        found = found.filter(in_name | Q(slug__contains=words.replace(" ", "-")) | Q(pk__in=named))
    return found


def preferred_values(accelerator_ids: Iterable[int]) -> QuerySet[SpecValue]:
    """The public, preferred values of these accelerators, with their sources."""
    return SpecValue.objects.filter(
        accelerator__in=set(accelerator_ids), is_preferred=True, status=SpecValue.Status.PUBLIC
    ).select_related("source")


def spec_table(accelerators: Sequence[Accelerator], skip: frozenset[str] = NOT_COMPARED) -> tuple[SpecRow, ...]:
    """Every field any of them publishes, rows in registry order, a cell per accelerator. One query.

    | field                 | condition | H100 SXM | M3 Max 40 |
    | memory_bandwidth_gb_s |           | 3,350    | 400       |
    | bf16_tensor_tflops    | dense     | 989.4    | None      |

    Only figures of the same condition share a row; variants of one product (memory sizes) share a cell.
    """
    by_row: dict[tuple[str, str], dict[int, list[SpecValue]]] = defaultdict(lambda: defaultdict(list))
    for value in preferred_values(accelerator.pk for accelerator in accelerators).order_by("amount", "value", "pk"):
        if value.field in FIELDS and value.field not in skip:
            meaning, _variant = split_variants(value.condition)
            by_row[value.field, meaning][value.accelerator_id].append(value)
    order = sorted(by_row, key=lambda row: (POSITION[row[0]], condition_rank(FIELDS[row[0]], row[1]), row[1]))
    return tuple(
        _row(FIELDS[name], condition, [by_row[name, condition].get(item.pk, []) for item in accelerators])
        for name, condition in order
    )


def condition_rank(field: Field, condition: str) -> int:
    """Where a condition stands among a field's usual ones; the usual come first."""
    return field.usual.index(condition) if condition in field.usual else len(field.usual)


def _row(field: Field, condition: str, values: Sequence[list[SpecValue]]) -> SpecRow:
    return SpecRow(
        field=field.name,
        title=str(field.title),
        unit=printed(field.unit),
        condition=describe(condition),
        better=field.higher_is_better,
        cells=tuple(_cell(field, of_one) for of_one in values),
        meaning=str(field.meaning),
        group=field.group,
    )


def printed(symbol: str) -> str:
    """A unit as people write it: `mm²` for `mm2`, nothing for a count."""
    return format_in(1.0, symbol).unit if symbol else ""


def _cell(field: Field, values: Sequence[SpecValue]) -> SpecCell | None:
    """The values of one accelerator as one cell: the plain one, or else all its variants; None for no value."""
    if not values:
        return None
    chosen = [value for value in values if not split_variants(value.condition)[1]] or list(values)
    cells = [_single_cell(field, value) for value in chosen]
    if len(cells) == 1:
        return cells[0]
    return replace(
        cells[-1],
        text=" / ".join(dict.fromkeys(cell.text for cell in cells)),
        exact=" / ".join(dict.fromkeys(cell.exact for cell in cells)),
        note=_("differs by variant: %(variants)s") % {"variants": _variants(field, chosen)},
    )


def _variants(field: Field, values: Sequence[SpecValue]) -> str:
    return "; ".join(
        f"{describe(split_variants(value.condition)[1])}: {_single_cell(field, value).text}" for value in values
    )


def _single_cell(field: Field, value: SpecValue) -> SpecCell:
    remarks = [describe(split_variants(value.condition)[1]), value.note]
    text, exact = shown_in(field, value)
    return SpecCell(
        amount=value.amount,
        text=text,
        exact=exact,
        basis=value.basis,
        source_title=value.source.title if value.source else "",
        source_url=value.source.url if value.source else "",
        note="; ".join(filter(None, remarks)),
    )


def shown_in(field: Field, value: SpecValue) -> tuple[str, str]:
    """(text in the field's unit, without it; exact figure for a hover). Text values are shown as they are."""
    if value.amount is None:
        return value.value, value.value
    shown = format_in(value.amount, field.unit, digits=6)
    return shown.text, shown.exact


def scaled(value: SpecValue) -> tuple[str, str]:
    """(text scaled for people, with unit; exact figure as printed and in base units)."""
    if value.amount is None:
        return value.value, value.value
    shown = format_quantity(value.amount, UNITS[value.unit].si, digits=5)
    exact = f"{value.value} {printed(value.unit)}".rstrip()
    return shown.label, f"{exact} = {shown.exact}" if shown.exact != exact else exact


def headline_specs(accelerators: Iterable[Accelerator]) -> dict[int, tuple[Headline, ...]]:
    """For each accelerator (by id) its headline figures, in registry order, unpublished ones included. One query."""
    ids = [accelerator.pk for accelerator in accelerators]
    values: dict[tuple[int, str], list[SpecValue]] = defaultdict(list)
    for value in preferred_values(ids).filter(field__in=[field.name for field in HEADLINES]):
        values[value.accelerator_id, value.field].append(value)
    return {pk: tuple(_headline(field, values[pk, field.name]) for field in HEADLINES) for pk in ids}


def _headline(field: Field, values: Sequence[SpecValue]) -> Headline:
    usual = usual_values(field, values)
    title = str(field.title)
    if not usual:
        return Headline(field.name, title, "", "", "", "", None)
    texts = [scaled(value) for value in usual]
    condition = describe(split_variants(usual[0].condition)[0])
    return Headline(
        field.name,
        title,
        " / ".join(text for text, _exact in texts),
        " / ".join(exact for _text, exact in texts),
        condition,
        usual[0].basis,
        usual[-1].amount,
    )


def usual_values(field: Field, values: Sequence[SpecValue]) -> list[SpecValue]:
    """The values under the first of the field's usual conditions that has any; several are variants, smallest first."""
    for condition in field.usual:
        under = [value for value in values if split_variants(value.condition)[0] == condition]
        if under:
            plain = [value for value in under if not split_variants(value.condition)[1]]
            return plain or sorted(under, key=lambda value: (value.amount or 0.0, value.value))
    return []


def peaks(accelerator_ids: Iterable[int]) -> dict[tuple[int, str, str], float]:
    """(accelerator id, field, canonical condition) -> published amount in SI base units. One query.

    `usual_peak` picks from it the figure a measurement is held against.
    """
    found = preferred_values(accelerator_ids).filter(amount__isnull=False)
    rows = found.select_related(None).values_list("accelerator_id", "field", "condition", "amount")
    return {(pk, field, condition): amount for pk, field, condition, amount in rows if amount is not None}


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
