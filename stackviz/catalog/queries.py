"""Reads across accelerators for pages and other rooms: constant query counts, frozen rows, figures already text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from stackviz.catalog.conditions import describe
from stackviz.catalog.fields import FIELDS, Field
from stackviz.catalog.figures import (
    in_unit_of,
    joined,
    meaning_of,
    printed_unit,
    usual_values,
)
from stackviz.catalog.models import Accelerator, SpecValue
from stackviz.catalog.public import PublicCatalogue, public_catalogue


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


def public_accelerators() -> QuerySet[Accelerator]:
    """Accelerators anybody may see, with their vendors."""
    return Accelerator.objects.filter(is_public=True).select_related("vendor")


def accelerators_by_slug(slugs: Iterable[str]) -> dict[str, Accelerator]:
    """The public accelerators with these slugs; unknown ones are absent. One query."""
    known = public_catalogue().by_slug
    return {slug: known[slug] for slug in slugs if slug in known}


def preferred_values(accelerator_ids: Iterable[int]) -> QuerySet[SpecValue]:
    """The public, preferred values of those of these accelerators that are public, with their sources."""
    return SpecValue.objects.filter(
        accelerator__in=set(accelerator_ids),
        accelerator__is_public=True,
        is_preferred=True,
        status=SpecValue.Status.PUBLIC,
    ).select_related("source")


def condition_rank(field: Field, condition: str) -> int:
    """Where a condition stands among a field's usual ones; the usual come first."""
    return field.usual.index(condition) if condition in field.usual else len(field.usual)


def headline(field: Field, values: Sequence[SpecValue]) -> Headline:
    """The figure of one field to show first, out of an accelerator's preferred values of it."""
    usual = usual_values(field, values)
    if not usual:
        return Headline(
            field=field.name,
            title=field.words[0],
            number="",
            unit=printed_unit(field.unit),
            exact="",
            condition="",
            basis="",
            amount=None,
        )
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
    pks = set(accelerator_ids)
    if not pks:
        return {}
    catalogue = public_catalogue()
    found: dict[tuple[int, str, str], float] = {}
    for pk in pks:
        found |= _peaks(pk, catalogue)
    return found


def _peaks(pk: int, catalogue: PublicCatalogue) -> dict[tuple[int, str, str], float]:
    return catalogue.once(("peaks", pk), lambda: peaks_of(catalogue.preferred_values(pk)))


def peaks_of(values: Iterable[SpecValue]) -> dict[tuple[int, str, str], float]:
    """What `peaks` finds, of these values."""
    return {
        (value.accelerator_id, value.field, value.condition): value.amount
        for value in values
        if value.amount is not None
    }


def usual_peak(
    amounts: Mapping[tuple[int, str, str], float], accelerator_id: int, field: str
) -> tuple[str, float] | None:
    """(condition, amount) under the first of the field's usual conditions that is published, or None.

    For fp16 on tensor cores that is the dense rate with fp32 accumulate, which is what cuBLAS and PyTorch do; a source
    that does not name the accumulate type (cards where it does not matter) comes next.
    """
    for condition in FIELDS[field].usual:
        amount = amounts.get((accelerator_id, field, condition))
        if amount is not None:
            return condition, amount
    return None


def successors(slug: str) -> list[Accelerator]:
    """The public sheets a chip's name stands for: the variants of `m3-max`, the one sheet of `m6`. One query."""
    sheets = (row for row in public_catalogue().accelerators if row.family == slug or row.slug == f"apple-{slug}")
    return sorted(sheets, key=lambda row: row.slug)
