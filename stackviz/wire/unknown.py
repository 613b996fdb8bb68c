"""What a report states that this version does not understand, as a short list of paths.

May import: wire.components, wire.facts, wire.limits and the standard library.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from stackviz.wire.components import COMPONENTS
from stackviz.wire.facts import CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Fact
from stackviz.wire.limits import LIMITS

if TYPE_CHECKING:
    from stackviz.wire.report import Absent, Report

__all__ = ["unknown_fields"]


def unknown_fields(report: "Report") -> tuple[str, ...]:
    """Paths of fields, facts, conditions and components that are not known here, at most LIMITS.unknown_listed.

    Of a field that many items of one list share only the first place is listed: `results[0].energy_j` stands for
    every result that has one. When more are left, the last line counts them.
    """
    first: dict[tuple[str, str], str] = {}
    for group, place, name in _met(report):
        first.setdefault((group, name), f"{place}{name}")
    paths = list(first.values())
    if len(paths) <= LIMITS.unknown_listed:
        return tuple(paths)
    kept = paths[: LIMITS.unknown_listed - 1]
    return (*kept, f"... and {len(paths) - len(kept)} more")


Met = tuple[str, str, str]
"""A group of like places, this place with its dot, the name not understood there."""


def _met(report: "Report") -> Iterator[Met]:
    yield from _named("", "", report.extra)
    yield from _named("agent", "agent.", report.agent.extra)
    yield from _named("machine", "machine.", report.machine.extra)
    yield from _named("facts", "facts.", report.facts.keys() - FACTS.keys())
    yield from _absent("absent", "absent.", report.absent, FACTS)
    yield from _cards(report)
    yield from _software(report)
    yield from _results(report)
    for number, probe in enumerate(report.probes):
        yield from _named("probes", f"probes[{number}].", probe.extra)


def _named(group: str, place: str, names: Iterable[str]) -> Iterator[Met]:
    return ((group, place, name) for name in sorted(names))


def _absent(group: str, place: str, absent: "Mapping[str, Absent]", known: Mapping[str, Fact]) -> Iterator[Met]:
    yield from _named(group, place, absent.keys() - known.keys())
    for name, why in absent.items():
        yield from _named(f"{group}.*", f"{place}{name}.", why.extra)


def _cards(report: "Report") -> Iterator[Met]:
    for number, card in enumerate(report.cards):
        place = f"cards[{number}]."
        yield from _named("cards", place, card.extra)
        yield from _named("cards.facts", f"{place}facts.", card.facts.keys() - CARD_FACTS.keys())
        yield from _absent("cards.absent", f"{place}absent.", card.absent, CARD_ABSENT_NAMES)


def _software(report: "Report") -> Iterator[Met]:
    for number, software in enumerate(report.software):
        yield from _named("software", f"software[{number}].", software.extra)
        if software.component not in COMPONENTS:
            yield "software.component", f"software[{number}].component=", software.component


def _results(report: "Report") -> Iterator[Met]:
    for number, result in enumerate(report.results):
        if result.extra:
            yield from _named("results", f"results[{number}].", result.extra)
        strange = result.conditions.keys() - CONDITIONS.keys()
        if strange:
            yield from _named("results.conditions", f"results[{number}].conditions.", strange)
