"""What an axis shows: a measure, and the figure of each accelerator under one condition or setting. Shapes alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from stackviz.records.catalog.absences import LEAST, lacks
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import SpecValue
from stackviz.records.cited.ranking import Lead

MeasureKind = Literal["published", "derived", "cited"]
NO_CONDITION = "none"  # how an address names the empty condition


@dataclass(frozen=True, slots=True, kw_only=True)
class PlottedAccelerator:
    """One accelerator as rankings and plots show it.

    `year`: of the date that the list and the spec sheet show first; None where no source gives a date.
    `is_announced`: it is not there yet. `can_be_had`: somebody sells or rents it; what nobody does is drawn, but leads
    nothing.
    """

    pk: int
    slug: str
    name: str
    drawn_name: str
    vendor: str
    vendor_name: str
    kind: str
    url: str
    year: int | None = None
    architecture: str = ""
    capability: str = ""
    is_announced: bool = False
    can_be_had: bool = True
    use: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedRun:
    """How a cited figure was measured. `devices`: how many worked together; `url`: the page of the result."""

    devices: int
    made: str
    date: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisFigure:
    """One accelerator's figure on an axis: `amount` in SI base units, `text` in the axis' unit.

    For a product with variants, `text` lists all and `amount` is the largest. `remark`: variants or derivation.
    `is_unnamed`: the source does not name the accumulate type. `instead`: which figure this is, where it stands in for
    the first of a measure of several fields; `condition`: under which that is published. `run`: of a cited figure.
    `is_worked`: the remark is the formula with its figures, shown beside it.
    """

    amount: float
    text: str
    exact: str
    basis_name: str
    remark: str
    source_title: str = ""
    source_url: str = ""
    is_unnamed: bool = False
    instead: str = ""
    condition: str = ""
    is_worked: bool = False
    run: CitedRun | None = None

    @property
    def basis(self) -> str:
        """The basis of the figure in words; "" for a published one, and for a cited one, whose axis says it."""
        if self.run is not None:
            return ""
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
    """What an axis shows: a field of the registry, a quantity derived by `formula`, in words, or a cited benchmark.

    `unit`: as printed, "" for a count; `factor`: its size in `si`, the base unit. `better`: True if higher is better,
    False if lower is, None if neither. `is_hollow`: drawn as rings, because figures are cited or rest on cited ones.
    """

    name: str
    title: str
    meaning: str
    unit: str
    si: str
    factor: float
    better: bool | None
    kind: MeasureKind = "published"
    glossary: str = ""
    formula: str = ""
    is_hollow: bool = False

    def scaled(self, amount: float) -> float:
        """`amount`, in the base unit, converted to `unit` and rounded to 12 digits."""
        return float(f"{amount / self.factor:.12g}")


@dataclass(frozen=True, slots=True)
class AxisBound:
    """No more than a published figure of one of `fields` ÷ `divisor`, both in base units.

    `divisor_words`: what it is divided by: `3.56 GiB of weights`; "" where both are of the same quantity.
    """

    fields: tuple[str, ...]
    divisor: float
    divisor_words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A measure under one condition. `figures`: accelerator pk -> its figure.

    `elsewhere`: pk -> the conditions, in words, under which it is published instead, or why it cannot be derived.
    `is_joined`: includes figures whose source names no accumulate type, of cards on which it makes no difference.
    `ranking_url`, `lead`: of a cited benchmark in this setting; `bound`: what published figures bound it. Figures of a
    cited benchmark are in the order of its ranking.
    """

    measure: Measure
    condition: str
    choices: tuple[ConditionChoice, ...]
    figures: Mapping[int, AxisFigure]
    elsewhere: Mapping[int, str]
    is_joined: bool = False
    ranking_url: str = ""
    lead: Lead | None = None
    bound: AxisBound | None = None

    @property
    def is_derived(self) -> bool:
        return self.measure.kind == "derived"

    @property
    def is_cited(self) -> bool:
        return self.measure.kind == "cited"

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
