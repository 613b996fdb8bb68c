"""The conditions around a result in words: what was read before and after the samples, and how it was run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.facts import CONDITIONS
from stackviz.facts.conditions import MOMENTS
from stackviz.reports.facts import ShownFact, fact_text, in_order, meaning_of, shown_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTwice:
    """One reading, before and after; "" where it was not read. `name`: of the fact, without its moment."""

    name: str
    meaning: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ShownConditions:
    readings: Sequence[ReadTwice]
    others: Sequence[ShownFact]


def shown_conditions(conditions: Mapping[str, Any]) -> ShownConditions:
    """In the order of the registry; names it does not know come last, as they were sent."""
    names = dict.fromkeys(
        name.removeprefix(_moment(name)) for name in in_order(conditions, CONDITIONS) if _moment(name)
    )
    return ShownConditions(
        readings=[_read_twice(name, conditions) for name in names],
        others=shown_facts({name: value for name, value in conditions.items() if not _moment(name)}, CONDITIONS),
    )


def _moment(name: str) -> str:
    return next((moment for moment in MOMENTS if name.startswith(moment)), "")


def _read_twice(name: str, conditions: Mapping[str, Any]) -> ReadTwice:
    before, after = (moment + name for moment in MOMENTS)
    return ReadTwice(
        name=name,
        meaning=meaning_of(before) or name,
        before=fact_text(before, conditions.get(before)),
        after=fact_text(after, conditions.get(after)),
    )
