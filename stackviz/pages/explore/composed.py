"""Measures of several fields: of each accelerator the first that is published, and the figure says which it is.

Apple publishes no bf16 rate and no board power. In a picture of all accelerators its chips would be missing; with
another figure in their place they stand there, marked.

Then dates as years, and rates per watt.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number
from stackviz.pages.explore.measures import NO_CONDITION, Axis, AxisFigure, Measure
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import COMPUTE_RATE, FIELDS, POWER, Meaning, Words
from stackviz.records.catalog.figures import condition_rank
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import PLANNED, PublicCatalogue

ReadAxis = Callable[[str, str | None], Axis]


@dataclass(frozen=True, slots=True)
class Composed:
    """`groups` of (field, condition): the first with a published figure counts, and of those in it the largest.

    Unit and direction are those of the first field.
    """

    name: str
    title: Words
    meaning: Words
    groups: tuple[tuple[tuple[str, str], ...], ...]

    @property
    def field(self) -> str:
        """The field that the others stand in for."""
        return self.groups[0][0][0]


def _groups(meaning: Meaning) -> tuple[tuple[tuple[str, str], ...], ...]:
    """A group for each named condition; else one for the usual conditions of a field, or of all of one kind."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for member in meaning.members:
        for condition in member.conditions or FIELDS[member.field].usual:
            group = groups.setdefault((member.counts, condition if member.conditions else ""), [])
            group.append((member.field, condition))
    return tuple(map(tuple, groups.values()))


_ALL = (
    Composed(
        name=COMPUTE_RATE.name,
        title=gettext_lazy("Compute: bf16, else fp16 or fp32"),
        meaning=gettext_lazy(
            "The dense bf16 rate of the matrix units. Where none is published: fp16 of the matrix units, else fp16 or "
            "fp32 of the ordinary cores, the faster; such figures are marked and say which they are."
        ),
        groups=_groups(COMPUTE_RATE),
    ),
    Composed(
        name=POWER.name,
        title=gettext_lazy("Power: board, else observed"),
        meaning=gettext_lazy(
            "The published power of the board. Apple publishes none for a chip: there it is what was observed of the "
            "GPU, else of the chip, else of the whole machine at the wall; such figures are marked and say which."
        ),
        groups=_groups(POWER),
    ),
)

COMPOSED: Mapping[str, Composed] = {composed.name: composed for composed in _ALL}


def composed_axis(composed: Composed, read: ReadAxis) -> Axis:
    """The axis of a composed measure; `read` gives those of its fields."""
    first_field, first_condition = composed.groups[0][0]
    first = read(first_field, first_condition or NO_CONDITION)
    figures: dict[int, AxisFigure] = {}
    for group in composed.groups:
        for pk, figure in _largest(group, first, read).items():
            figures.setdefault(pk, figure)
    measure = replace(first.measure, name=composed.name, title=str(composed.title), meaning=str(composed.meaning))
    return Axis(measure=measure, condition="", choices=(), figures=figures, elsewhere={})


def _largest(group: tuple[tuple[str, str], ...], first: Axis, read: ReadAxis) -> dict[int, AxisFigure]:
    """The largest figure of each accelerator among these fields and conditions."""
    largest: dict[int, AxisFigure] = {}
    for field, condition in group:
        axis = read(field, condition or NO_CONDITION)
        if axis.condition != condition:  # nothing is published under this one
            continue
        is_first = (field, condition) == (first.measure.name, first.condition)
        for pk, figure in axis.figures.items():
            if pk not in largest or figure.amount > largest[pk].amount:
                largest[pk] = replace(figure, instead="" if is_first else axis.title, condition=condition)
    return largest


# --- The date of release as an axis of years ---

RELEASED = "released"
DATE = "release_date"
YEAR = "year"  # its base unit


def first_date(dates: Iterable[SpecValue]) -> SpecValue | None:
    """The date the list shows: could be bought before announced. None of what is planned alone."""
    field = FIELDS[DATE]
    dated = [date for date in dates if _is_year(date.value[:4]) and date.condition != PLANNED]
    return min(dated, key=lambda date: (condition_rank(field, date.condition), date.value), default=None)


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and digits.isascii() and digits.isdecimal()


def released_axis(catalogue: PublicCatalogue) -> Axis:
    """When each accelerator came out. Earlier counts as better: the front is then those that led when they came out."""
    measure = Measure(
        name=RELEASED,
        title=_("Released"),
        meaning=_("The day it could be bought, else that it was announced."),
        unit="",
        si=YEAR,
        factor=1.0,
        better=False,
    )
    dates = {item.pk: first_date(catalogue.preferred(item.pk, DATE)) for item in catalogue.accelerators}
    figures = {pk: _figure_of_date(date) for pk, date in dates.items() if date is not None}
    return Axis(measure=measure, condition="", choices=(), figures=figures, elsewhere={})


def _figure_of_date(date: SpecValue) -> AxisFigure:
    source = date.source
    return AxisFigure(
        amount=decimal_year(date.value),
        text=date.value,
        exact=date.value,
        basis_name=date.basis,
        remark=describe_condition(date.condition),
        source_title=source.title if source else "",
        source_url=source.url if source else "",
    )


def decimal_year(date: str) -> float:
    """`2022-07-01` -> 2022.5; of a month or a year alone its middle.

    >>> decimal_year("2022"), decimal_year("2022-01"), decimal_year("2022-01-01")
    (2022.5, 2022.0417, 2022.0)
    """
    year, month, day = (*(int(part) for part in date.split("-") if part.isdecimal()), 0, 0)[:3]
    if not month:
        return year + 0.5
    return round(year + (month - 1 + ((day - 1) / 31 if day else 0.5)) / 12, 4)


# --- rates per watt ---

ENDING = "-per-watt"
# Rates that are divided; cited ones only where they are known.
RATES = ("compute-rate", "fp32_tflops", "memory_bandwidth_gb_s", "llama-bench-tg128", "llama-bench-pp512")
DIGITS = 4


def per_watt_names(known: Iterable[str]) -> tuple[str, ...]:
    """The measures there are, of rates that are `known`."""
    measures = frozenset(known)
    return tuple(f"{rate}{ENDING}" for rate in RATES if rate in measures)


def per_watt_axis(name: str, read: ReadAxis) -> Axis:
    """The axis of a measure of `per_watt_names`; `read` gives those of the rate and the power."""
    rate, power = read(name.removesuffix(ENDING), None), read(POWER.name, None)
    figures = {
        pk: _figure_per_watt(figure, power.figures[pk], rate.measure, power.measure)
        for pk, figure in rate.figures.items()
        if pk in power.figures
    }
    without = _("no power is published or was observed")
    return Axis(
        measure=_measure_per_watt(name, rate, power),
        condition="",
        choices=(),
        figures=figures,
        elsewhere={pk: without for pk in rate.figures if pk not in power.figures},
        ranking_url=rate.ranking_url,
    )


def _measure_per_watt(name: str, rate: Axis, power: Axis) -> Measure:
    words = {"rate": rate.title, "power": power.title}
    return Measure(
        name=name,
        title=_("%(rate)s, per watt") % words,
        meaning=_("What one watt buys. Published power is a limit, not what was drawn during the run."),
        unit=f"{rate.measure.unit}/W",
        si=f"{rate.measure.si} / {power.measure.si}",
        factor=rate.measure.factor / power.measure.factor,
        better=True,
        kind="derived",
        formula=_("%(above)s ÷ %(below)s") % {"above": rate.title, "below": power.title},
        is_hollow=rate.measure.is_hollow,
    )


def _figure_per_watt(rate: AxisFigure, power: AxisFigure, rates: Measure, powers: Measure) -> AxisFigure:
    amount = rate.amount / power.amount
    worked = f"{rate.text} {rates.unit} ÷ {power.text} {powers.unit}"
    return AxisFigure(
        amount=amount,
        text=format_number(amount / rates.factor * powers.factor, DIGITS),
        exact=f"{format_number(amount, 12)} {rates.si} / {powers.si}",
        basis_name="derived",
        remark=" · ".join(filter(None, (worked, rate.remark if rate.run else "", power.basis))),
        instead="; ".join(filter(None, (rate.instead, power.instead))),
        is_worked=True,
    )
