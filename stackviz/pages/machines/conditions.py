"""The conditions around a result in words: what was read before, during and after the samples, and how it was run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.intake.report_parts.facts import ShownFact, fact_text, in_order, meaning_of, shown_facts
from stackviz.report.format.facts import CONDITIONS
from stackviz.report.format.facts.conditions import MOMENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReading:
    """One reading, before, during and after; "" where it was not read. `name`: of the fact, without its moment."""

    name: str
    meaning: str
    before: str
    during: str
    after: str


@dataclass(frozen=True, slots=True)
class ShownConditions:
    readings: Sequence[ShownReading]
    others: Sequence[ShownFact]


def shown_conditions(conditions: Mapping[str, Any]) -> ShownConditions:
    """In the order of the registry; names it does not know come last, as they were sent."""
    names = dict.fromkeys(
        name.removeprefix(_moment(name)) for name in in_order(conditions, CONDITIONS) if _moment(name)
    )
    return ShownConditions(
        readings=[_reading(name, conditions) for name in names],
        others=shown_facts({name: value for name, value in conditions.items() if not _moment(name)}, CONDITIONS),
    )


def _moment(name: str) -> str:
    return next((moment for moment in MOMENTS if name.startswith(moment)), "")


def _reading(name: str, conditions: Mapping[str, Any]) -> ShownReading:
    before, during, after = (moment + name for moment in MOMENTS)
    return ShownReading(
        name=name,
        meaning=meaning_of(before) or name,
        before=fact_text(before, conditions.get(before)),
        during=fact_text(during, conditions.get(during)),
        after=fact_text(after, conditions.get(after)),
    )
