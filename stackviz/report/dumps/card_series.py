"""What tools saw of a card again and again -> one series, and the facts that sum it up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, median

from stackviz.report.format import Card
from stackviz.report.importers import Reading
from stackviz.report.importers.reading import CardReading, CardSample

__all__ = ["LEAST_READINGS", "merged_series", "with_series"]

LEAST_READINGS = 5
"""Fewer are single looks: nothing is said about the time between them."""
IDLE_RATIO = 0.10  # a desktop takes as much
_OFTEN = 1 / 3  # of the readings with work
_LONGEST_S = 7 * 86_400.0
_TAKEN_OVER = (*("busy_ratio", "power_w", "temperature_c", "memory_used_bytes", "sm_clock_hz", "throttle_reasons"),)


def merged_series(readings: Sequence[Reading], renumbered: Sequence[Mapping[int, int]]) -> dict[int, list[CardSample]]:
    """The longest series of one tool for each card of the whole; a table that is repeated counts as one look each.

    `renumbered`: of each reading, its cards' indexes -> those of the whole.
    """
    by_tool: dict[int, dict[str, list[CardSample]]] = {}
    for reading, indexes in zip(readings, renumbered, strict=True):
        for card in reading.cards:
            if card.index in indexes:
                samples = reading.series.get(card.index) or _single_look(card)
                by_tool.setdefault(indexes[card.index], {}).setdefault(reading.kind, []).extend(samples)
    return {index: max(tools.values(), key=len) for index, tools in by_tool.items()}


def _single_look(card: Card) -> list[CardSample]:
    values = {name: card.facts[name] for name in _TAKEN_OVER if name in card.facts}
    return [CardSample(**values)] if "busy_ratio" in values else []  # type: ignore[arg-type]  # the facts' own types


def with_series(reading: Reading) -> Reading:
    """The reading itself, or one whose cards state what their series come to; series of few readings are dropped."""
    series = {index: samples for index, samples in reading.series.items() if len(samples) >= LEAST_READINGS}
    if not series:
        return replace(reading, series={}) if reading.series else reading
    cards = [_with_facts(card, series[card.index]) if card.index in series else card for card in reading.cards]
    return replace(reading, cards=cards, series=series)


def _with_facts(card: Card, samples: Sequence[CardSample]) -> Card:
    stated = CardReading(index=card.index, kind=card.kind, vendor=card.vendor, reported_name=card.reported_name)
    for name, value in _summary(samples):
        stated.sheet.state(name, value)
    return replace(card, facts={**card.facts, **stated.sheet.facts})


def _summary(samples: Sequence[CardSample]) -> Iterable[tuple[str, float | int | str | None]]:
    """Names of facts with their values; None where the tool does not say."""
    looks = [sample for sample in samples if sample.busy_ratio is not None]
    working = [sample for sample in looks if not _is_idle(sample)]
    yield "watched_readings", len(samples)
    yield "watched_s", _duration_s(samples)
    yield "watched_sm_clock_most_hz", _most(samples, lambda sample: sample.sm_clock_hz)
    yield "watched_temperature_c", _most(samples, lambda sample: sample.temperature_c)
    memory = _most(samples, lambda sample: sample.memory_used_bytes)
    yield "watched_memory_used_bytes", None if memory is None else int(memory)
    if len(looks) < LEAST_READINGS:
        return
    yield "watched_idle_ratio", 1 - len(working) / len(looks)
    yield "watched_pauses", _pauses(looks)
    yield "watched_busy_ratio", fmean(sample.busy_ratio or 0.0 for sample in working) if working else None
    yield "watched_memory_activity_ratio", _middle(working, lambda sample: sample.memory_activity_ratio)
    yield "watched_power_w", _middle(working, lambda sample: sample.power_w)
    yield "watched_sm_clock_hz", _middle(working, lambda sample: sample.sm_clock_hz)
    yield "watched_received_bytes_per_s", _middle(working, lambda sample: sample.received_bytes_per_s)
    yield "watched_throttle_reasons", _reasons(working)


def _is_idle(sample: CardSample) -> bool:
    return (sample.busy_ratio or 0.0) <= IDLE_RATIO


def _pauses(looks: Sequence[CardSample]) -> int:
    """How often it went from work to none and back."""
    states = [_is_idle(sample) for sample in looks]
    ends = sum(was_idle and not is_idle for was_idle, is_idle in pairwise(states))
    return ends - (bool(ends) and states[0])


def _duration_s(samples: Sequence[CardSample]) -> float | None:
    times = [sample.at_s for sample in samples if sample.at_s is not None]
    length = times[-1] - times[0] if len(times) == len(samples) else 0.0
    return length if 0 < length < _LONGEST_S else None


def _values(samples: Sequence[CardSample], of_sample: Callable[[CardSample], float | None]) -> list[float]:
    return [value for value in map(of_sample, samples) if value is not None]


def _most(samples: Sequence[CardSample], of_sample: Callable[[CardSample], float | None]) -> float | None:
    return max(_values(samples, of_sample), default=None)


def _middle(samples: Sequence[CardSample], of_sample: Callable[[CardSample], float | None]) -> float | None:
    values = _values(samples, of_sample)
    return median(values) if values else None


def _reasons(working: Sequence[CardSample]) -> str | None:
    """Those of many readings with work, in the order in which they came up."""
    active = [sample.throttle_reasons.split() for sample in working]
    each = dict.fromkeys(reason for reasons in active for reason in reasons if reason != "none")
    often = [reason for reason in each if sum(reason in reasons for reasons in active) >= _OFTEN * len(active)]
    return " ".join(often) or None
