"""Facts of a report as text for people: bytes in GiB, clocks in MHz, truths in words. No queries, no request.

Names, units and meanings come from the wire format's registry; a fact that is not in it is shown as it was sent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from stackviz.units import format_reported
from stackviz.web.words import missing_text
from stackviz.wire.facts import CARD_FACTS, CONDITIONS, FACTS, Fact

REGISTRIES: tuple[Mapping[str, Fact], ...] = (FACTS, CARD_FACTS, CONDITIONS)
_PLACES = {name: place for registry in REGISTRIES for place, name in enumerate(registry)}
LONGEST_TEXT = 400  # of a fact in a table; the whole of it is on the receipt


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
        return format_reported(value, _unit(name))
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def _unit(name: str) -> str:
    fact = _registered(name)
    return fact.unit if fact else ""


def _registered(name: str) -> Fact | None:
    return next((registry[name] for registry in REGISTRIES if name in registry), None)


def shown_facts(facts: Mapping[str, Any]) -> list[ShownFact]:
    """All facts, in the registry's order; those it does not know come last."""
    return [ShownFact(name, fact_text(name, facts[name]), meaning_of(name)) for name in in_order(facts)]


def missing_facts(absent: Mapping[str, Any]) -> list[ShownFact]:
    """What was not reported, with the reason in words, in the registry's order."""
    found = []
    for name in in_order(absent):
        said = absent[name] if isinstance(absent[name], Mapping) else {}
        found.append(
            ShownFact(
                name,
                meaning=meaning_of(name),
                missing=missing_text(said.get("reason")),
                detail=str(said.get("detail") or "")[:LONGEST_TEXT],
            )
        )
    return found


def one_fact(name: str, facts: Mapping[str, Any], absent: Mapping[str, Any]) -> ShownFact:
    """The fact, or why it is missing; a report that does not mention it did not report it."""
    text = fact_text(name, facts.get(name))
    if text:
        return ShownFact(name, text)
    found = missing_facts({name: absent[name]}) if name in absent else []
    return found[0] if found else ShownFact(name, missing=missing_text("not_reported"))


def meaning_of(name: str) -> str:
    """What the fact says, as the wire format's registry words it; "" for a name it does not know."""
    fact = _registered(name)
    return fact.meaning if fact else ""


def in_order(names: Iterable[str]) -> Sequence[str]:
    """Names in the registry's order, those it does not know last."""
    return sorted(names, key=lambda name: (_PLACES.get(name, len(_PLACES)), name))
