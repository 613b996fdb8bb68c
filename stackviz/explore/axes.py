"""Axes: one field under one condition, with the figure of each public accelerator.

Figures under different conditions never share an axis.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.catalog.capabilities import LEAST, lacks
from stackviz.catalog.conditions import describe_condition
from stackviz.catalog.derived import DERIVATIONS, Derivation, Derived, derive_figure
from stackviz.catalog.fields import ACCUMULATE_MATTERS, FIELDS, UNNAMED_ACCUMULATE, Field
from stackviz.catalog.figures import (
    base_condition,
    by_variant,
    condition_rank,
    in_unit_of,
    join_unnamed,
    join_variants,
    printed_unit,
    variant_of,
)
from stackviz.catalog.models import Accelerator, SpecValue
from stackviz.catalog.queries import PublicCatalogue, peaks_of, public_catalogue
from stackviz.explore.selection import ExploreOptions
from stackviz.units import unit as unit_named

NO_CONDITION = "none"  # how an address names the empty condition
_RELEASED, _ARCHITECTURE, _CAPABILITY = "release_date", "architecture", "compute_capability"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlottedAccelerator:
    """One accelerator as rankings and plots show it.

    `year`: of the date that the list and the spec sheet show first; None where no source gives a date.
    """

    pk: int
    slug: str
    name: str
    short_name: str
    vendor: str
    vendor_name: str
    kind: str
    url: str
    year: int | None = None
    architecture: str = ""
    capability: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisFigure:
    """One accelerator's figure on an axis: `amount` in SI base units, `text` in the axis' unit.

    For a product with variants, `text` lists all and `amount` is the largest. `remark`: variants or derivation.
    `is_unnamed`: the source does not name the accumulate type.
    """

    amount: float
    text: str
    exact: str
    basis_name: str
    remark: str
    source_title: str = ""
    source_url: str = ""
    is_unnamed: bool = False

    @property
    def basis(self) -> str:
        """The basis of the figure in words; "" for a published one."""
        return "" if self.basis_name == SpecValue.Basis.PUBLISHED else str(SpecValue.Basis(self.basis_name).label)


@dataclass(frozen=True, slots=True)
class ConditionChoice:
    """A condition under which this field is published. `count`: number of accelerators."""

    value: str
    words: str
    count: int

    @property
    def parameter(self) -> str:
        """As it stands in an address."""
        return self.value or NO_CONDITION


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What an axis shows: a field of the registry, or a quantity derived from two of them by `formula`, in words.

    `unit`: as printed, "" for a count; `factor`: its size in `si`, the base unit. `better`: True if higher is better,
    False if lower is, None if neither.
    """

    name: str
    title: str
    meaning: str
    unit: str
    si: str
    factor: float
    better: bool | None
    glossary: str = ""
    formula: str = ""

    def scaled(self, amount: float) -> float:
        """`amount`, in the base unit, converted to `unit` and rounded to 12 digits."""
        return float(f"{amount / self.factor:.12g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A measure under one condition. `figures`: accelerator pk -> its figure.

    `elsewhere`: pk -> the conditions, in words, under which it is published instead, or why it cannot be derived.
    `is_joined`: includes figures whose source names no accumulate type, of cards on which it makes no difference.
    """

    measure: Measure
    condition: str
    choices: tuple[ConditionChoice, ...]
    figures: Mapping[int, AxisFigure]
    elsewhere: Mapping[int, str]
    is_joined: bool = False

    @property
    def is_derived(self) -> bool:
        return bool(self.measure.formula)

    def applies_to(self, subject: PlottedAccelerator) -> bool:
        """Whether the field applies to this kind of accelerator."""
        field = FIELDS.get(self.measure.name)
        return field is None or field.applies_to(subject.vendor, subject.kind)

    def is_lacked_by(self, subject: PlottedAccelerator) -> bool:
        """Whether its compute capability is known not to support this."""
        return lacks(self.measure.name, subject.capability)

    @property
    def least_capability(self) -> str:
        """The first compute capability that supports this; "" where none is known."""
        return LEAST.get(self.measure.name, "")

    @property
    def condition_words(self) -> str:
        return describe_condition(self.condition)

    @property
    def title(self) -> str:
        """`bf16 tensor, dense`"""
        return ", ".join(filter(None, (self.measure.title, self.condition_words)))

    @property
    def label(self) -> str:
        """`bf16 tensor, dense (TFLOPS)`"""
        return f"{self.title} ({self.measure.unit})" if self.measure.unit else self.title


def measure_of(field: Field) -> Measure:
    title, meaning = field.words
    unit = unit_named(field.unit)
    return Measure(
        name=field.name,
        title=title,
        meaning=meaning,
        unit=printed_unit(field.unit),
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
        formula=formula,
    )


def numeric_fields() -> list[Field]:
    """Fields that can be an axis, in registry order."""
    return [field for field in FIELDS.values() if not field.is_text]


@dataclass(frozen=True, slots=True)
class PlotData:
    """The public catalogue as rankings and drawings read it; all of it is render_body once for an edition."""

    public: PublicCatalogue

    @property
    def edition(self) -> str:
        return self.public.edition

    @property
    def known(self) -> ExploreOptions:
        """Valid parameter values."""
        return self.public.once("known to explore", lambda: _known(self.public))

    @property
    def subjects(self) -> tuple[PlottedAccelerator, ...]:
        """All public accelerators, by name."""
        return _subjects(self.public)

    def axis(self, name: str, condition: str | None = None) -> Axis:
        """The axis of this measure; without a condition, or with one without published figures, under the usual result.

        `condition`: one of `known`, so that axes are few.
        """
        key = ("axis", name, condition or None, get_language())
        if name in DERIVATIONS:
            return self.public.once(key, lambda: _derived_axis(DERIVATIONS[name], self.public))
        return self.public.once(key, lambda: _axis(FIELDS[name], _values(self.public, name), condition))

    def texts(self, name: str) -> dict[int, str]:
        """Accelerator pk -> its value of a text field."""
        return {value.accelerator_id: value.value for value in _values(self.public, name)}


def read_plot_data() -> PlotData:
    """The public catalogue of the current edition. One query."""
    return PlotData(public_catalogue())


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
    return catalogue.once("subjects", lambda: tuple(_subject(item, catalogue) for item in by_name))


def _subject(item: Accelerator, catalogue: PublicCatalogue) -> PlottedAccelerator:
    def text(field: str) -> str:
        return next((value.value for value in reversed(catalogue.preferred(item.pk, field))), "")

    return PlottedAccelerator(
        pk=item.pk,
        slug=item.slug,
        name=item.name,
        short_name=item.short_name,
        vendor=item.vendor.slug,
        vendor_name=item.vendor.name,
        kind=item.kind,
        url=item.get_absolute_url(),
        year=_year(catalogue.preferred(item.pk, _RELEASED)),
        architecture=text(_ARCHITECTURE),
        capability=text(_CAPABILITY),
    )


def _year(dates: Iterable[SpecValue]) -> int | None:
    """The year of the date the list shows: could be bought before announced."""
    field = FIELDS[_RELEASED]
    dated = [
        (condition_rank(field, date.condition), date.value)
        for date in dates
        if len(digits := date.value[:4]) == 4 and digits.isascii() and digits.isdecimal()
    ]
    return int(min(dated)[1][:4]) if dated else None


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
