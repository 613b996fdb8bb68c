"""Measures of several fields: of each accelerator the first that is published, and the figure says which it is.

Apple publishes no bf16 rate and no board power. In a picture of all accelerators its chips would be missing; with
another figure in their place they stand there, marked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext_lazy as _

from stackviz.pages.explore.measures import NO_CONDITION, Axis, AxisFigure
from stackviz.records.catalog.fields import COMPUTE_RATE, FIELDS, POWER, Meaning, Words

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
        title=_("Compute: bf16, else fp16 or fp32"),
        meaning=_(
            "The dense bf16 rate of the matrix units. Where none is published: fp16 of the matrix units, else fp16 or "
            "fp32 of the ordinary cores, the faster; such figures are marked and say which they are."
        ),
        groups=_groups(COMPUTE_RATE),
    ),
    Composed(
        name=POWER.name,
        title=_("Power: board, else observed"),
        meaning=_(
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
