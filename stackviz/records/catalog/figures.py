"""Values as people read them: text, exact figure, words of the condition. All becomes text here, before templates.

Pure of queries: works on SpecValue rows already read, with their sources.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.utils.translation import gettext as _

from stackviz.base.units import UNITS, Shown, format_in, format_quantity, from_si, unit_label
from stackviz.records.catalog.conditions import describe_condition, split_variants
from stackviz.records.catalog.fields import FIELDS, Field, compared_unit
from stackviz.records.catalog.models import SpecValue

# Digits a figure keeps: 1,978.9 stays whole, 16.384 GB in a column of MB becomes 16,384.
DIGITS = 5
# Beyond these a figure in the unit its source prints has too many digits: 21,000,000 GB/s reads better as 21 PB/s.
READABLE = (0.01, 100_000)
READABLE_BYTES = 10_000  # 38,655 MB beside 48 GB reads better as 38.655 GB

_split = lru_cache(maxsize=4096)(split_variants)


def base_condition(value: SpecValue) -> str:
    """The condition without the keys that only name a variant: what must be equal for two figures to be compared."""
    return _split(value.condition)[0]


def variant_of(value: SpecValue) -> str:
    """The part of the condition that names a variant of the product, such as `configuration=48 GB`."""
    return _split(value.condition)[1]


def in_unit_of(field: Field, value: SpecValue) -> Shown:
    """The figure in the field's unit, for a column whose head names it; text values are shown as they are."""
    if value.amount is None:
        return Shown(value.value, "", value.value)
    shown = format_in(value.amount, field.unit, digits=DIGITS)
    return replace(shown, exact=_as_printed(value)) if _is_size_in_binary(value) else shown


def _is_size_in_binary(value: SpecValue) -> bool:
    """Whether the value is a memory size printed in GiB, which is compared as GB and has no other exact figure."""
    field = value.registered_field
    return field is not None and compared_unit(field, value.unit) != value.unit


def _as_printed(value: SpecValue) -> str:
    return f"{value.value} {unit_label(value.unit)}".rstrip()


def for_people(value: SpecValue) -> Shown:
    """The figure by itself: in the unit printed while that reads well, else scaled; `exact` as printed and in SI."""
    if value.amount is None:
        return Shown(value.value, "", value.value)
    if _is_size_in_binary(value):
        return Shown(value.value, value.unit, _as_printed(value))
    shown = format_in(value.amount, value.unit, digits=DIGITS)
    most = READABLE_BYTES if UNITS[value.unit].si == "B" else READABLE[1]
    if value.amount and not READABLE[0] <= from_si(value.amount, value.unit) < most:
        shown = format_quantity(value.amount, UNITS[value.unit].si, digits=DIGITS)
    as_printed = _as_printed(value)
    exact = as_printed if shown.exact == as_printed else f"{as_printed} = {shown.exact}"
    return Shown(shown.text, shown.unit, exact)


def usual_values(field: Field, values: Sequence[SpecValue]) -> list[SpecValue]:
    """The values under the first of the field's usual conditions that has any; several are variants, smallest first."""
    for condition in field.usual:
        under = [value for value in values if base_condition(value) == condition]
        if under:
            plain = [value for value in under if not variant_of(value)]
            return plain or sorted(under, key=lambda value: (value.amount or 0.0, value.value))
    return []


def join_unnamed(plain: dict[int, list[SpecValue]], named: dict[int, list[SpecValue]]) -> list[int]:
    """Bring rates without an accumulate type beside those with fp32. -> accelerators whose rates moved.

    Both are by accelerator. Sources name the type only for cards on which it matters; for the others the one rate
    printed is that with fp32 accumulate. Pages that show a moved rate note that its source does not name the type.
    """
    moved = [pk for pk in plain if pk not in named]
    for pk in moved:
        named[pk] = plain.pop(pk)
    return moved


def join_variants(texts: Sequence[str]) -> str:
    """Several variants on one line, each once: `48 / 64 / 128`."""
    return " / ".join(dict.fromkeys(texts))


def by_variant(values: Sequence[SpecValue]) -> str:
    """Which variant has which figure, in words; empty where the sizes name themselves or all agree."""
    lines = [(describe_condition(variant_of(value)), in_unit_of(FIELDS[value.field], value).label) for value in values]
    if len({text for _words, text in lines}) < 2 or all(value.field == "memory_gb" for value in values):
        return ""
    return _("depends on the model: %(models)s") % {"models": "; ".join(f"{words} {text}" for words, text in lines)}


# --- the figure of a field to show first ---


def condition_rank(field: Field, condition: str) -> int:
    """The rank of a condition among a field's usual ones, which come first."""
    return field.usual.index(condition) if condition in field.usual else len(field.usual)


@dataclass(frozen=True, slots=True, kw_only=True)
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


def nearest_headline(field: Field, values: Sequence[SpecValue]) -> Headline:
    """Under a usual condition, or where nothing is published under one, under the most usual of the others."""
    figure = choose_headline(field, values)
    if figure.is_published or not values:
        return figure
    conditions = {base_condition(value) for value in values}
    nearest = min(conditions, key=lambda condition: (condition_rank(field, condition), condition))
    return choose_headline(replace(field, usual=(nearest,)), values)


def choose_headline(field: Field, values: Sequence[SpecValue]) -> Headline:
    """The figure of one field to show first, out of an accelerator's preferred values of it."""
    usual = usual_values(field, values)
    if not usual:
        return Headline(
            field=field.name,
            title=field.words[0],
            number="",
            unit=unit_label(field.unit),
            exact="",
            condition="",
            basis="",
            amount=None,
        )
    shown = [in_unit_of(field, value) for value in usual]
    return Headline(
        field=field.name,
        title=field.words[0],
        number=join_variants([figure.text for figure in shown]),
        unit=unit_label(field.unit),
        exact=join_variants([figure.exact for figure in shown]),
        condition=describe_condition(base_condition(usual[0])),
        basis=usual[0].basis,
        amount=usual[-1].amount,
    )
