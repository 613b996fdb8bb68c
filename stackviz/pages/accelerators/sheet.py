"""One accelerator's spec sheet, now or at a moment: every public value with its source, alternatives, derived
figures and history.

The number of queries is constant: values, checkers, history, names, relatives, the last change.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.pages.accelerators.list_query import OBSERVED_POWER
from stackviz.pages.accelerators.relatives import desktop_version, predecessor, relatives
from stackviz.pages.accelerators.sheet_prices import sheet_prices
from stackviz.pages.accelerators.sheet_sources import (
    NumberedSources,
    SheetFigure,
    SheetSource,
    SourceChoice,
    source_filters,
)
from stackviz.pages.accelerators.standing import standings
from stackviz.pages.accelerators.value_history import History, Slot, value_histories
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS, HEADLINES, POWER, Field, Group, grouped
from stackviz.records.catalog.figures import Headline, base_condition, condition_rank, nearest_headline, variant_of
from stackviz.records.catalog.match import describe_needs
from stackviz.records.catalog.models import Accelerator, Alias, Source, SpecValue
from stackviz.records.catalog.past import names_at, public_values_at
from stackviz.records.catalog.people import public_name
from stackviz.records.catalog.queries import DATE, PublicCatalogue, planned_date, public_catalogue
from stackviz.records.catalog.spec_table import SpecColumn, column_of, spec_columns
from stackviz.records.stacks.driver_words import sheet_drivers

# Shown as names, not as values; the vendor stands in the head.
NOT_LISTED = frozenset({"vendor", "nvml_name", "reported_name"})
OPERATOR_VENDORS = ("nvidia", "apple")  # whose stacks `/operators/` describes


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetValue:
    """The preferred value under one condition. `confirmed_by` state the same figure, `others` another.

    `key`: the condition as files write it. `decided`: the rule that made it preferred, "" where only its note says.
    `checked`: who checked it and when, in words. `more`: what opens below the row, in a few words.
    """

    figure: SheetFigure
    key: str
    condition: str
    confirmed_by: tuple[SheetFigure, ...]
    others: tuple[SheetFigure, ...]
    decided: str
    checked: str
    history: History | None
    more: str


@dataclass(frozen=True, slots=True)
class SheetHeadline:
    """A figure of the sheet's head. `reason`: why there is none, as the `missing` tag names it, or "".

    `standing`: against its kind and its predecessor; None on a past sheet, and of what has no amount. `absence`: why
    it cannot have one, in words.
    """

    figure: Headline
    reason: str
    standing: Mapping[str, str] | None = None
    absence: str = ""


def read_sheet(
    accelerator: Accelerator, at: datetime | None = None, choice: SourceChoice | None = None
) -> dict[str, Any]:
    """An accelerator's sheet, now or as it was at a moment. Thirteen queries at most.

    Only the present sheet has relatives and drivers: they are not part of its history. `choice` leaves out rows of
    other sources.

    `missing`: titles of fields for which nothing is published, `not_applying`: of those that it cannot have. `derived`
    have a figure, `underived` a reason why not. `sources`: those that rows and names point to, by number. `filters`: by
    which sources the rows can be chosen. `planned`: when what is announced only is to come out; "" if it is out.
    """
    catalogue = public_catalogue()
    values = sheet_values(accelerator, at)
    preferred: dict[str, list[SpecValue]] = defaultdict(list)
    for value in values:
        if value.is_preferred:
            preferred[value.field].append(value)
    column = column_of_sheet(accelerator, values, at)
    absences = {name: absence.words for name, absence in column.absences.items()}
    missing, not_applying = _without_value({value.field for value in values}, accelerator, absences)
    before = predecessor(accelerator, catalogue) if at is None else None
    standing = standings(accelerator, before, catalogue) if at is None else {}
    numbers = NumberedSources(values)
    cells = _cells(values, choice or SourceChoice())
    groups = _groups(cells, numbers, value_histories(accelerator.pk, at), _checkers(values))
    prices = sheet_prices(accelerator, values, numbers, at)
    names = _names(names_at(accelerator.pk, at) if at else catalogue.names(accelerator.pk), numbers)
    return {
        "groups": groups,
        "headlines": [
            replace(_headline(accelerator, field, preferred, standing), absence=absences.get(field.name, ""))
            for field in HEADLINES
        ],
        "missing": missing,
        "not_applying": not_applying,
        "derived": [item for item in column.derived if item.amount is not None],
        "underived": [item for item in column.derived if item.amount is None],
        "names": names,
        "relatives": relatives(accelerator, catalogue) if at is None else (),
        "desktop": desktop_version(accelerator, catalogue) if at is None else None,
        "planned": planned_date(preferred[DATE]),
        "drivers": sheet_drivers(accelerator) if at is None else None,
        "predecessor": before,
        "value_count": sum(map(len, preferred.values())),
        "source_count": len({value.source_id for value in values}),
        "sources": numbers.listed(),
        "filters": source_filters([value for values in preferred.values() for value in values]),
        "prices": prices,
        "changed_at": last_change(accelerator.pk, at) if at else last_changes(catalogue).get(accelerator.pk),
        "has_operators": accelerator.vendor.slug in OPERATOR_VENDORS,
    }


def sheet_values(accelerator: Accelerator, at: datetime | None = None) -> list[SpecValue]:
    """The public values of the sheet with their sources, smallest first. One query; three as they stood at a moment."""
    values = public_catalogue().values(accelerator.pk) if at is None else public_values_at([accelerator.pk], at)
    listed = (value for value in values if value.field in FIELDS and value.field not in NOT_LISTED)
    return sorted(listed, key=lambda value: (value.amount or 0.0, value.pk))


def column_of_sheet(accelerator: Accelerator, values: Iterable[SpecValue], at: datetime | None) -> SpecColumn:
    """What follows from the preferred ones of the sheet's values; now it is worked out once for each edition."""
    if at is None:
        return spec_columns([accelerator])[0]
    return column_of(accelerator, (value for value in values if value.is_preferred))


_RECORDS = ((SpecValue.history, "accelerator_id"), (Alias.history, "accelerator_id"), (Accelerator.history, "id"))


def last_changes(catalogue: PublicCatalogue) -> dict[int, datetime]:
    """Accelerator pk -> when anything of its sheet last changed. Three queries, once for each edition."""
    return catalogue.once("last changes", _last_changes)


def _last_changes() -> dict[int, datetime]:
    latest: dict[int, datetime] = {}
    for records, key in _RECORDS:
        for pk, newest in records.order_by().values_list(key).annotate(Max("history_date")):
            latest[pk] = max(newest, latest.get(pk, newest))
    return latest


def last_change(accelerator_id: int, until: datetime) -> datetime | None:
    """When anything of the sheet last changed before a moment: a value, a name, the product itself. Three queries."""
    known = (records.filter(**{key: accelerator_id}, history_date__lte=until) for records, key in _RECORDS)
    newest = (records.aggregate(newest=Max("history_date"))["newest"] for records in known)
    return max(filter(None, newest), default=None)


def _applies(field: Field, accelerator: Accelerator) -> bool:
    return field.applies_to(accelerator.vendor.slug, accelerator.kind)


def _without_value(
    published: set[str], accelerator: Accelerator, absences: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """(titles of fields that it could have, those that it cannot have by reason), in registry order."""
    missing: list[str] = []
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, field in FIELDS.items():
        if name in published or name in NOT_LISTED:
            continue
        applies = name not in absences and _applies(field, accelerator)
        (missing if applies else by_reason[absences.get(name, "")]).append(field.words[0])
    return tuple(missing), tuple((reason, tuple(titles)) for reason, titles in sorted(by_reason.items()))


def _headline(
    accelerator: Accelerator,
    field: Field,
    preferred: Mapping[str, Sequence[SpecValue]],
    standing: Mapping[str, Mapping[str, str]],
) -> SheetHeadline:
    figure = nearest_headline(field, preferred.get(field.name, ()))
    if field.name == "int8_tensor_tops" and not figure.is_published:
        # Apple publishes its Neural Engine's rate where others publish that of int8 matrix products.
        engine = nearest_headline(FIELDS["neural_engine_tops"], preferred.get("neural_engine_tops", ()))
        figure = engine if engine.is_published else figure
    if field.name == POWER.members[0].field and not figure.is_published:
        # Where no board power is published, what was observed answers, under its own name.
        field_observed = replace(FIELDS[OBSERVED_POWER], usual=POWER.member(OBSERVED_POWER).conditions)
        observed = nearest_headline(field_observed, preferred.get(OBSERVED_POWER, ()))
        figure = observed if observed.is_published else figure
    if field.name == "release_date" and figure.condition:
        figure = replace(figure, title=figure.condition[:1].upper() + figure.condition[1:], condition="")
    if figure.is_published:
        return SheetHeadline(figure, "", standing.get(figure.field))
    return SheetHeadline(figure, "not_published" if _applies(field, accelerator) else "does_not_apply")


def _checkers(values: Sequence[SpecValue]) -> dict[int, str]:
    """Id -> name of the people who checked a value here. One query, none if there are none."""
    people = get_user_model().objects.in_bulk({value.checked_by_id for value in values if value.checked_by_id})
    return {pk: public_name(person) for pk, person in people.items()}


Cells = Mapping[str, Mapping[str, list[SpecValue]]]  # field -> condition -> values, the one to show first


def _cells(values: Sequence[SpecValue], choice: SourceChoice) -> Cells:
    """The cells of the sheet whose shown value has a source of the choice."""
    by_field: dict[str, dict[str, list[SpecValue]]] = defaultdict(lambda: defaultdict(list))
    for value in sorted(values, key=lambda value: not value.is_preferred):
        by_field[value.field][value.condition].append(value)
    chosen = {
        field: {condition: rows for condition, rows in conditions.items() if choice.has(rows[0])}
        for field, conditions in by_field.items()
    }
    return {field: conditions for field, conditions in chosen.items() if conditions}


def _groups(
    by_field: Cells, numbers: NumberedSources, histories: Mapping[Slot, History], checkers: Mapping[int, str]
) -> list[tuple[Group, list[tuple[Field, list[SheetValue]]]]]:
    """(group, (field, its values) of the group), in the registry's order."""

    def listed(field: Field) -> list[SheetValue]:
        return [
            _value(rows, numbers, histories.get((field.name, condition)), checkers)
            for condition, rows in _in_order(field, by_field[field.name])
        ]

    return [(group, [(field, listed(field)) for field in fields]) for group, fields in grouped(by_field)]


def _in_order(field: Field, by_condition: Mapping[str, list[SpecValue]]) -> list[tuple[str, list[SpecValue]]]:
    """The usual conditions first; variants of one product in order of size."""

    def sort_key(item: tuple[str, list[SpecValue]]) -> tuple[int, str, float, str]:
        first = item[1][0]
        return condition_rank(field, base_condition(first)), base_condition(first), first.amount or 0.0, item[0]

    return sorted(by_condition.items(), key=sort_key)


def _value(
    values: Sequence[SpecValue], numbers: NumberedSources, history: History | None, checkers: Mapping[int, str]
) -> SheetValue:
    """The first value with its alternatives."""
    main, *rivals = values
    same = [value for value in rivals if (value.amount, _text_of(value)) == (main.amount, _text_of(main))]
    different = [value for value in rivals if value not in same]
    figure, confirmed_by = numbers.figure(main), tuple(numbers.figure(value) for value in same)
    others = tuple(numbers.figure(value) for value in different)
    return SheetValue(
        figure=figure,
        key=main.condition,
        condition=", ".join(
            filter(None, [describe_condition(base_condition(main)), describe_condition(variant_of(main))])
        ),
        confirmed_by=confirmed_by,
        others=others,
        decided=_decided(main, different),
        checked=_checked(main, history, checkers),
        history=history if history and history.steps else None,
        more=_more(len(same), others, history),
    )


def _text_of(value: SpecValue) -> str:
    return value.value if value.amount is None else ""


def _decided(main: SpecValue, others: Sequence[SpecValue]) -> str:
    """Which of the catalogue's rules (docs/catalogue.md) puts `main` before all the others, in words; "" for none."""
    if not others:
        return ""
    kind, kinds = _kind_of(main), {_kind_of(other) for other in others}
    basis, bases = main.basis, {other.basis for other in others}
    if kind == Source.Kind.MAKER and Source.Kind.MAKER not in kinds:
        return _("the vendor's own figure takes precedence")
    if basis == SpecValue.Basis.PROBED and SpecValue.Basis.PROBED not in bases:
        return _("values read from real hardware take precedence")
    if basis == SpecValue.Basis.PUBLISHED and SpecValue.Basis.PUBLISHED not in bases:
        return _("a published figure takes precedence over a derived or measured one")
    if kind == Source.Kind.PRESS and kinds == {Source.Kind.COMMUNITY}:
        return _("a reference site takes precedence over community tables")
    return ""


def _kind_of(value: SpecValue) -> str:
    return value.source.kind if value.source else ""


def _more(confirmed: int, others: Sequence[SheetFigure], history: History | None) -> str:
    """What the row hides, most telling first: `1 other figure: 3,000 GB/s · 2 sources · changed once`."""
    parts = []
    if others:
        count = ngettext("%(n)d other figure", "%(n)d other figures", len(others)) % {"n": len(others)}
        parts.append(f"{count}: {', '.join(dict.fromkeys(other.text for other in others))}")
    if confirmed:
        parts.append(ngettext("%(n)d source", "%(n)d sources", confirmed + 1) % {"n": confirmed + 1})
    if history and history.steps:
        changes = len(history.steps) + history.left_out
        parts.append(ngettext("%(n)d change", "%(n)d changes", changes) % {"n": changes})
    return " · ".join(parts) or _("details")


def _checked(value: SpecValue, history: History | None, checkers: Mapping[int, str]) -> str:
    """Who checked the value and when, in words."""
    if value.checked_at is not None:
        who = checkers.get(value.checked_by_id or 0, _("a deleted account"))
        return _("by %(who)s on %(day)s") % {"who": who, "day": _day(value.checked_at)}
    since = _day(history.since) if history else _("an unknown date")
    if value.data_key and not value.is_corrected_here:
        return _("from the catalogue's reviewed files, loaded on %(day)s") % {"day": since}
    return _("entered or corrected on this site, not yet approved by a second person")


def _day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d}"


def _names(aliases: Iterable[Alias], numbers: NumberedSources) -> list[tuple[Alias, str, SheetSource]]:
    """(name of the accelerator, what must also match for it to be this one ("30-core GPU"), numbered source)"""
    return [
        (alias, ", ".join(describe_needs(alias)), numbers.of(alias.source))
        for alias in aliases
        if alias.source and alias.kind != Alias.Kind.PRODUCT
    ]
