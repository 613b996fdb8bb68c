"""Axes: one field under one condition, with the figure of each public accelerator.

Figures under different conditions never share an axis.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.base.units import unit as unit_named
from stackviz.base.units import unit_label
from stackviz.pages.explore.cited_axes import cited_axis, cited_names
from stackviz.pages.explore.composed import (
    COMPOSED,
    DATE,
    ENDING,
    RELEASED,
    composed_axis,
    first_date,
    per_watt_axis,
    per_watt_names,
    released_axis,
)
from stackviz.pages.explore.measures import NO_CONDITION, Axis, AxisFigure, ConditionChoice, Measure, PlottedAccelerator
from stackviz.pages.explore.selection import ExploreOptions
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.derived import DERIVATIONS, Derivation, Derived, derive_figure
from stackviz.records.catalog.fields import ACCUMULATE_MATTERS, FIELDS, UNNAMED_ACCUMULATE, Field
from stackviz.records.catalog.figures import (
    base_condition,
    by_variant,
    condition_rank,
    in_unit_of,
    join_unnamed,
    join_variants,
    variant_of,
)
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import PublicCatalogue, is_announced, peaks_of, public_catalogue
from stackviz.records.catalog.uses import can_be_had, use_of
from stackviz.records.cited.models import CitedEdition

_ARCHITECTURE, _CAPABILITY = "architecture", "compute_capability"


def measure_of(field: Field) -> Measure:
    title, meaning = field.words
    unit = unit_named(field.unit)
    return Measure(
        name=field.name,
        title=title,
        meaning=meaning,
        unit=unit_label(field.unit),
        si=unit.si,
        factor=unit.factor,
        better=field.higher_is_better,
        glossary=field.glossary,
    )


def measure_derived(derivation: Derivation) -> Measure:
    title, formula, meaning = derivation.words
    above, below = (unit_named(FIELDS[need.fields[0]].unit).si for need in derivation.needs)
    return Measure(
        name=derivation.name,
        title=title,
        meaning=meaning,
        unit=derivation.unit,
        si=f"{above} / {below}",
        factor=derivation.factor,
        better=derivation.higher_is_better,
        kind="derived",
        formula=formula,
    )


def numeric_fields() -> list[Field]:
    """Fields that can be an axis, in registry order."""
    return [field for field in FIELDS.values() if not field.is_text]


@dataclass(frozen=True, slots=True)
class PlotData:
    """The public catalogue and cited results as rankings and drawings read them; each axis is made once an edition."""

    public: PublicCatalogue
    cited_edition: str

    @property
    def edition(self) -> str:
        return f"{self.public.edition} {self.cited_edition}"

    @property
    def known(self) -> ExploreOptions:
        """Valid parameter values."""
        published = self.public.once("known to explore", lambda: _known(self.public))
        more = (RELEASED, *COMPOSED, *cited_names())
        more += per_watt_names((*published.measures, *more))
        return replace(published, measures={**published.measures, **dict.fromkeys(more, frozenset[str]())})

    @property
    def subjects(self) -> tuple[PlottedAccelerator, ...]:
        """All public accelerators, by name."""
        return _subjects(self.public)

    def axis(self, name: str, condition: str | None = None) -> Axis:
        """The axis of this measure; without a condition, or with one without published figures, under the usual one.

        `name`, `condition`: of `known`, so that axes are few.
        """
        key = ("axis", name, condition or None, get_language())
        if name in FIELDS:
            return self.public.once(key, lambda: _axis(FIELDS[name], _values(self.public, name), condition))
        if name in DERIVATIONS:
            return self.public.once(key, lambda: _derived_axis(DERIVATIONS[name], self.public))
        if name in COMPOSED:
            return self.public.once(key, lambda: composed_axis(COMPOSED[name], self.axis))
        if name == RELEASED:
            return self.public.once(key, lambda: released_axis(self.public))
        return per_watt_axis(name, self.axis) if name.endswith(ENDING) else cited_axis(name)

    def texts(self, name: str) -> dict[int, str]:
        """Accelerator pk -> its value of a text field."""
        return {value.accelerator_id: value.value for value in _values(self.public, name)}


def read_plot_data() -> PlotData:
    """What is public now. One query."""
    return PlotData(public_catalogue(), CitedEdition.current())


def _known(catalogue: PublicCatalogue) -> ExploreOptions:
    measures: dict[str, set[str]] = {
        name: set() for name in (*(field.name for field in numeric_fields()), *DERIVATIONS)
    }
    of_vendors: dict[str, set[str]] = defaultdict(set)
    for item in catalogue.accelerators:
        for value in catalogue.preferred_values(item.pk):
            if value.field in measures:
                measures[value.field].add(base_condition(value) or NO_CONDITION)
                of_vendors[item.vendor.slug].add(value.field)
    vendors = sorted({(item.vendor.name, item.vendor.slug) for item in catalogue.accelerators})
    return ExploreOptions(
        measures=measures,
        vendors={slug: name for name, slug in vendors},
        kinds=dict(Accelerator.Kind.choices),
        years=sorted({subject.year for subject in _subjects(catalogue) if subject.year is not None}, reverse=True),
        of_vendors=of_vendors,
    )


def _subjects(catalogue: PublicCatalogue) -> tuple[PlottedAccelerator, ...]:
    by_name = sorted(catalogue.accelerators, key=lambda item: item.name)
    return catalogue.once(("subjects", get_language()), lambda: tuple(_subject(item, catalogue) for item in by_name))


def _subject(item: Accelerator, catalogue: PublicCatalogue) -> PlottedAccelerator:
    def text(field: str) -> str:
        return next((value.value for value in reversed(catalogue.preferred(item.pk, field))), "")

    return PlottedAccelerator(
        pk=item.pk,
        slug=item.slug,
        name=item.name,
        drawn_name=item.drawn_name,
        vendor=item.vendor.slug,
        vendor_name=item.vendor.name,
        kind=item.kind,
        url=item.get_absolute_url(),
        year=_year(catalogue.preferred(item.pk, DATE)),
        architecture=text(_ARCHITECTURE),
        capability=text(_CAPABILITY),
        is_announced=is_announced(item, catalogue),
        can_be_had=can_be_had(item, catalogue),
        use=use_of(item.slug) or "",
    )


def _year(dates: Iterable[SpecValue]) -> int | None:
    """The year of the date the list shows."""
    date = first_date(dates)
    return int(date.value[:4]) if date else None


def _values(catalogue: PublicCatalogue, field: str) -> list[SpecValue]:
    """The preferred values of a field, smallest first."""
    values = (value for item in catalogue.accelerators for value in catalogue.preferred(item.pk, field))
    return sorted(values, key=lambda value: (value.amount or 0.0, value.value, value.pk))


def _fields_of(derivation: Derivation) -> tuple[str, ...]:
    return tuple(field for need in derivation.needs for field in need.fields)


def _derived_axis(derivation: Derivation, catalogue: PublicCatalogue) -> Axis:
    amounts = peaks_of(value for name in _fields_of(derivation) for value in _values(catalogue, name))
    derived = {subject.pk: derive_figure(derivation, amounts, subject.pk) for subject in _subjects(catalogue)}
    figures = {pk: _derived_figure(result) for pk, result in derived.items() if result.amount is not None}
    reasons = {pk: result.reason for pk, result in derived.items() if result.amount is None}
    return Axis(measure=measure_derived(derivation), condition="", choices=(), figures=figures, elsewhere=reasons)


def _derived_figure(result: Derived) -> AxisFigure:
    remark = " · ".join(filter(None, (result.worked, result.condition)))
    return AxisFigure(
        amount=result.amount or 0.0,
        text=result.text,
        exact=result.exact,
        basis_name=str(SpecValue.Basis.DERIVED),
        remark=remark,
    )


_Under = dict[str, dict[int, list[SpecValue]]]  # condition -> accelerator pk -> its variants


def _axis(field: Field, values: Sequence[SpecValue], condition: str | None) -> Axis:
    under: _Under = defaultdict(lambda: defaultdict(list))
    for value in values:
        if value.amount is not None:
            under[base_condition(value)][value.accelerator_id].append(value)
    moved = _join_unnamed_accumulate(field, under)
    choices = _choices(field, under)
    known = {choice.value for choice in choices}
    wanted = "" if condition == NO_CONDITION else condition or None
    if moved and wanted is not None:
        wanted = UNNAMED_ACCUMULATE.get(wanted, wanted)
    chosen = wanted if wanted in known else next((choice.value for choice in choices), field.usual[0])
    figures = {pk: _figure(field, variants, moved) for pk, variants in under[chosen].items()}
    return Axis(
        measure=measure_of(field),
        condition=chosen,
        choices=choices,
        figures=figures,
        elsewhere=_elsewhere(under, chosen),
        is_joined=any(pk in moved for pk in figures),
    )


def _join_unnamed_accumulate(field: Field, under: _Under) -> set[int]:
    """Apply `join_unnamed` to every pair of conditions. Returns the pks of the accelerators whose figures moved."""
    if field.name not in ACCUMULATE_MATTERS:
        return set()
    return {pk for plain, named in UNNAMED_ACCUMULATE.items() for pk in join_unnamed(under[plain], under[named])}


def _choices(field: Field, under: _Under) -> tuple[ConditionChoice, ...]:
    """The published conditions, the field's usual ones first, then the most frequent."""
    choices = [ConditionChoice(text, describe_condition(text), len(by_pk)) for text, by_pk in under.items() if by_pk]
    return tuple(sorted(choices, key=lambda choice: (condition_rank(field, choice.value), -choice.count, choice.value)))


def _elsewhere(under: _Under, chosen: str) -> dict[int, str]:
    others: dict[int, list[str]] = defaultdict(list)
    for condition, by_pk in sorted(under.items()):
        for pk in by_pk:
            if condition != chosen and pk not in under[chosen]:
                others[pk].append(describe_condition(condition) or _("without a condition"))
    return {pk: "; ".join(words) for pk, words in others.items()}


def _figure(field: Field, values: Sequence[SpecValue], moved: set[int]) -> AxisFigure:
    """The values of one accelerator as one figure: the one without a variant, else all variants, smallest first."""
    chosen = [value for value in values if not variant_of(value)] or list(values)
    shown = [in_unit_of(field, value) for value in chosen]
    largest = chosen[-1]
    models = by_variant(chosen) if len(chosen) > 1 else describe_condition(variant_of(largest))
    source = largest.source
    return AxisFigure(
        amount=largest.amount or 0.0,
        text=join_variants([figure.text for figure in shown]),
        exact=join_variants([figure.exact for figure in shown]),
        basis_name=largest.basis,
        remark=models,
        source_title=source.title if source else "",
        source_url=source.url if source else "",
        is_unnamed=largest.accelerator_id in moved,
    )
