"""Facts of a report as text for people: bytes in GiB, clocks in MHz, truths in words. No queries, no request.

Names, units and meanings come from the registry of facts; a fact that is not in it is shown as it was sent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from stackviz.facts import CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Fact
from stackviz.units import format_reported
from stackviz.web.words import missing_text
from stackviz.wire import Absent

LONGEST_TEXT = 480  # of a fact in a table; the whole of it is on the receipt
_BY_NAME: Mapping[str, Fact] = {**CARD_ABSENT_NAMES, **CONDITIONS, **CARD_FACTS, **FACTS}

Facts = Mapping[str, Any]
Absences = Mapping[str, Absent]


@dataclass(frozen=True, slots=True)
class ShownFact:
    """One fact of a report. `text` is empty when it is missing: then `missing` says why, `detail` more of it."""

    name: str
    text: str = ""
    meaning: str = ""
    missing: str = ""
    detail: str = ""


def fact_text(name: str, value: Any) -> str:  # noqa: ANN401 (any scalar of a report)
    """The value in words: `memory.total_bytes` 137438953472 -> "128 GiB", a truth -> "yes". "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int | float):
        return format_reported(value, _BY_NAME[name].unit if name in _BY_NAME else "")
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def shown_facts(facts: Facts, registry: Mapping[str, Fact] = FACTS) -> list[ShownFact]:
    """All facts, in the registry's order; those it does not know come last."""
    return [ShownFact(name, fact_text(name, facts[name]), meaning_of(name)) for name in in_order(facts, registry)]


def missing_facts(absent: Absences, registry: Mapping[str, Fact] = FACTS) -> list[ShownFact]:
    """What was not reported, with the reason in words, in the registry's order."""
    return [_missing(name, absent[name]) for name in in_order(absent, registry)]


def one_fact(name: str, facts: Facts, absent: Absences) -> ShownFact:
    """The fact, or why it is missing; a report that does not mention it did not report it."""
    if text := fact_text(name, facts.get(name)):
        return ShownFact(name, text)
    return _missing(name, absent.get(name) or Absent("not_reported"))


def _missing(name: str, why: Absent) -> ShownFact:
    return ShownFact(name, "", meaning_of(name), missing_text(why.reason), _cut(why.detail or ""))


def meaning_of(name: str) -> str:
    """What the fact says, as the registry words it; "" for a name it does not know."""
    return _BY_NAME[name].meaning if name in _BY_NAME else ""


def in_order(names: Iterable[str], registry: Mapping[str, Fact]) -> list[str]:
    """Names in the registry's order, those it does not know last, by name."""
    names = set(names)
    return [name for name in registry if name in names] + sorted(names - registry.keys())
