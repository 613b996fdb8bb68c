"""One accelerator's sheet: every public value with its source, what else is said, and what was corrected.

Constant query count whatever is on the sheet: accelerator, values, names, corrections, relatives.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, Subquery
from django.utils.translation import gettext as _

from stackviz.catalog.conditions import describe
from stackviz.catalog.fields import FIELDS, HEADLINES, Field, grouped
from stackviz.catalog.figures import for_people, meaning_of, variant_of
from stackviz.catalog.models import Accelerator, Alias, CatalogueEdition, SpecValue
from stackviz.catalog.queries import Headline, condition_rank, headline, public_accelerators

# Shown as names, not as values; the vendor stands in the head.
NOT_LISTED = frozenset({"vendor", "nvml_name", "reported_name"})


@dataclass(frozen=True, slots=True)
class Said:
    """What one source says: the figure as text, the exact one for a hover, and where it is from.

    `basis`: how the source came by it, in words; "" where it is simply published.
    """

    text: str
    exact: str
    basis: str
    source_title: str
    source_url: str
    note: str


@dataclass(frozen=True, slots=True)
class Correction:
    """A change made here: when, by whom, from what, to what, why. An empty `old` is a value that was added."""

    when: datetime
    who: str
    old: str
    new: str
    reason: str


@dataclass(frozen=True, slots=True)
class SheetValue:
    """The preferred value under one condition. `confirmed_by` say the same, `others` something else."""

    said: Said
    condition: str
    confirmed_by: tuple[Said, ...]
    others: tuple[Said, ...]
    corrections: tuple[Correction, ...]


@dataclass(frozen=True, slots=True)
class SheetField:
    name: str
    title: str
    meaning: str
    glossary: str
    values: tuple[SheetValue, ...]


@dataclass(frozen=True, slots=True)
class SheetGroup:
    name: str
    title: str
    fields: tuple[SheetField, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name the accelerator goes by; `needs` says with what it is this accelerator's ("30-core GPU")."""

    name: str
    kind: str
    needs: str
    source_title: str
    source_url: str
    note: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """All of one accelerator's page. `missing`: headline fields for which nothing is published."""

    accelerator: Accelerator
    groups: tuple[SheetGroup, ...]
    headlines: tuple[Headline, ...]
    missing: tuple[str, ...]
    names: tuple[Name, ...]
    relatives: tuple[Accelerator, ...]
    value_count: int
    source_count: int


def edited_accelerator(slug: str) -> tuple[Accelerator, str] | None:
    """A public accelerator with the catalogue's edition; None if there is no such one. One query.

    What was rendered of it under the same edition is still right.
    """
    edition = CatalogueEdition.objects.filter(pk=1).values("token")
    accelerator = public_accelerators().annotate(edition=Subquery(edition)).filter(slug=slug).first()
    return (accelerator, accelerator.edition or "") if accelerator else None


def read_sheet(accelerator: Accelerator) -> Sheet:
    """All that stands on an accelerator's sheet. Four queries at most."""
    values = _public_values(accelerator)
    preferred = [value for value in values if value.is_preferred]
    headlines = tuple(_headline(field, preferred) for field in HEADLINES)
    return Sheet(
        accelerator=accelerator,
        groups=_groups(values, _corrections(accelerator)),
        headlines=tuple(_instead(item, preferred) for item in headlines),
        missing=tuple(item.title for item in headlines if not item.is_published),
        names=_names(accelerator),
        relatives=_relatives(accelerator),
        value_count=len(preferred),
        source_count=len({value.source_id for value in values}),
    )


def _headline(field: Field, preferred: Sequence[SpecValue]) -> Headline:
    return headline(field, [value for value in preferred if value.field == field.name])


def _instead(item: Headline, preferred: Sequence[SpecValue]) -> Headline:
    """Apple publishes its Neural Engine's rate where others publish that of int8 matrix products."""
    if item.field == "int8_tensor_tops" and not item.is_published:
        engine = _headline(FIELDS["neural_engine_tops"], preferred)
        return engine if engine.is_published else item
    return item


def _public_values(accelerator: Accelerator) -> list[SpecValue]:
    rows = accelerator.spec_values.filter(status=SpecValue.Status.PUBLIC).select_related("source")
    return [value for value in rows.order_by("amount", "pk") if value.field in FIELDS and value.field not in NOT_LISTED]


def _groups(values: Sequence[SpecValue], corrections: dict[int, list[Correction]]) -> tuple[SheetGroup, ...]:
    by_place: dict[str, dict[str, list[SpecValue]]] = defaultdict(lambda: defaultdict(list))
    for value in values:
        by_place[value.field][value.condition].append(value)

    def listed(field: Field) -> SheetField:
        values = _values(field, by_place[field.name], corrections)
        return SheetField(field.name, *field.words, field.glossary, values)

    return tuple(
        SheetGroup(group.name, str(group.title), tuple(listed(field) for field in fields))
        for group, fields in grouped(by_place)
    )


def _values(
    field: Field, by_condition: dict[str, list[SpecValue]], corrections: dict[int, list[Correction]]
) -> tuple[SheetValue, ...]:
    """One SheetValue per condition, the usual conditions first; variants of one product in order of size."""

    def place(item: tuple[str, list[SpecValue]]) -> tuple[int, str, float, str]:
        first = item[1][0]
        return condition_rank(field, meaning_of(first)), meaning_of(first), first.amount or 0.0, item[0]

    return tuple(_value(said_here, corrections) for _condition, said_here in sorted(by_condition.items(), key=place))


def _value(said_here: Sequence[SpecValue], corrections: dict[int, list[Correction]]) -> SheetValue:
    """The preferred value with what else is said; where none is preferred the first stands for all."""
    main = next((value for value in said_here if value.is_preferred), said_here[0])
    rest = [value for value in said_here if value is not main]
    same = [value for value in rest if (value.amount, _text_of(value)) == (main.amount, _text_of(main))]
    return SheetValue(
        said=_said(main),
        condition=", ".join(filter(None, [describe(meaning_of(main)), describe(variant_of(main))])),
        confirmed_by=tuple(_said(value) for value in same),
        others=tuple(_said(value) for value in rest if value not in same),
        corrections=tuple(corrections.get(main.pk, ())),
    )


def _text_of(value: SpecValue) -> str:
    return value.value if value.amount is None else ""


def _said(value: SpecValue) -> Said:
    shown = for_people(value)
    source = value.source
    return Said(
        text=shown.label,
        exact=shown.exact,
        basis="" if value.basis == SpecValue.Basis.PUBLISHED else value.get_basis_display(),
        source_title=source.title if source else "",
        source_url=source.url if source else "",
        note=value.note,
    )


def _corrections(accelerator: Accelerator) -> dict[int, list[Correction]]:
    """By id of the value: its changes since it was first loaded, oldest first. One query."""
    changed = Q(history_type="~") | Q(history_user__isnull=False)
    history = SpecValue.history.filter(accelerator_id=accelerator.pk)
    rows = (
        history.filter(id__in=history.filter(changed).values("id"))
        .select_related("history_user")
        .order_by("id", "history_date", "history_id")
    )
    by_value: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        by_value[row.id].append(row)
    return {pk: _steps(records) for pk, records in by_value.items()}


def _steps(records: Sequence[Any]) -> list[Correction]:
    """Each record against the one before it; steps that left what is shown as it was are not told."""
    steps = []
    before: Any = None
    for record in records:
        old = _printed(before) if before is not None else ""
        if (before is not None or record.history_user) and (old != _printed(record) or record.history_change_reason):
            who = record.history_user.get_username() if record.history_user else _("the curated files")
            reason = record.history_change_reason or ""
            steps.append(Correction(record.history_date, who, old, _printed(record), reason))
        before = record
    return steps


def _printed(record: Any) -> str:  # noqa: ANN401 - a historical SpecValue, a class made while running
    condition = describe(record.condition)
    figure = f"{record.value} {record.unit}".rstrip()
    return f"{figure} ({condition})" if condition else figure


def _names(accelerator: Accelerator) -> tuple[Name, ...]:
    rows = accelerator.aliases.exclude(kind=Alias.Kind.PRODUCT).select_related("source")
    return tuple(
        Name(
            name=alias.name,
            kind=str(Alias.Kind(alias.kind).label),
            needs=_needs(alias),
            source_title=alias.source.title if alias.source else "",
            source_url=alias.source.url if alias.source else "",
            note=alias.note,
        )
        for alias in rows.order_by("kind", "name", "pk")
        if alias.source
    )


def _needs(alias: Alias) -> str:
    if alias.kind == Alias.Kind.UNDECIDED:
        return _("the name alone does not decide")
    if alias.gpu_cores:
        return _("with %(n)d GPU cores") % {"n": alias.gpu_cores}
    if alias.memory_bytes:
        return _("with %(size)s GB of memory") % {"size": f"{alias.memory_bytes / 1e9:g}"}
    return ""


def _relatives(accelerator: Accelerator) -> tuple[Accelerator, ...]:
    """The other variants of the same chip. One query, none where there is no family."""
    if not accelerator.family:
        return ()
    return tuple(public_accelerators().filter(family=accelerator.family).exclude(pk=accelerator.pk))
