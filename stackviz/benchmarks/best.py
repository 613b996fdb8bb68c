"""Which measured result speaks for an accelerator, and which of several is the best. No queries."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from stackviz.benchmarks.measurement import Measurement, is_refused

Key = TypeVar("Key", bound=Hashable)


def is_of_whole_card(result: Measurement) -> bool:
    """True for a rate that the accelerator itself reached: it ran, on all of the card, and nowhere else.

    A slice of a card (MIG), a fallback to the CPU and a run on another device than requested say nothing of the
    accelerator's rate.
    """
    card = result.card
    if result.rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return False
    return not is_refused(result) and result.conditions.get("fallback") is not True


def best_by(key: Callable[[Measurement], Key], results: Iterable[Measurement]) -> dict[Key, Measurement]:
    """For each key the result with the highest rate, the first of equals; results without a rate are left out."""
    best: dict[Key, Measurement] = {}
    for result in results:
        if result.rate is None:
            continue
        current = best.get(key(result))
        if current is None or current.rate is None or result.rate.value > current.rate.value:
            best[key(result)] = result
    return best
