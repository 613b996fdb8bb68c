"""What a report states that this version does not understand: held within bounds, and listed by path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stackviz.wire.components import COMPONENTS
from stackviz.wire.decode import check_tree
from stackviz.wire.errors import ReportError
from stackviz.wire.facts import CARD_ABSENT_NAMES, CARD_FACTS, CONDITIONS, FACTS, Fact
from stackviz.wire.limits import LIMITS

if TYPE_CHECKING:
    from stackviz.wire.report import Absent, ProbeRun, Report, Result, Software

__all__ = ["check_unknown", "unknown_fields"]


def check_unknown(report: "Report") -> None:
    """Refuse unknown fields that hold too many values together, or values that are too deep or that nobody can keep.

    They are counted before they are looked at: four megabytes of zeros are a few kilobytes on the way here.
    """
    left = LIMITS.unknown_values
    for place, depth, extra in _extras(report):
        for name, value in extra.items():
            left -= _count(value, left)
            if left < 0:
                problem = f"brings the values inside unknown fields to over {LIMITS.unknown_values}"
                raise ReportError(f"{place}{name}", problem)
            check_tree(value, f"{place}{name}", depth + 1)


def _extras(report: "Report") -> "Iterator[tuple[str, int, Mapping[str, Any]]]":
    """(place with its dot, depth, unknown fields) of each object that has some; the report itself has depth 1."""
    yield "", 1, report.extra
    yield "agent.", 2, report.agent.extra
    yield "machine.", 2, report.machine.extra
    yield from ((f"absent.{name}.", 3, why.extra) for name, why in report.absent.items() if why.extra)
    for number, card in enumerate(report.cards):
        yield f"cards[{number}].", 3, card.extra
        for name, why in card.absent.items():
            yield f"cards[{number}].absent.{name}.", 5, why.extra
    lists: tuple[tuple[str, Sequence[Software | Result | ProbeRun]], ...] = (
        ("software", report.software),
        ("results", report.results),
        ("probes", report.probes),
    )
    for group, items in lists:
        yield from ((f"{group}[{number}].", 3, item.extra) for number, item in enumerate(items) if item.extra)


def _count(value: object, most: int) -> int:
    """How many values there are, this one included; the count stops above `most`."""
    count, waiting = 1, [value]
    while waiting:
        found = waiting.pop()
        inner = found.values() if isinstance(found, dict) else found if isinstance(found, list | tuple) else ()
        count += len(inner)
        if count > most:
            break
        waiting.extend(item for item in inner if isinstance(item, dict | list | tuple))
    return count


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
