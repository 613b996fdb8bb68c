"""The conditions that are stored with a result: those sent, and what else the result states about how it was run."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from statistics import fmean, median
from typing import Any

from stackviz.report.format import Interference, Result
from stackviz.report.measuring.stated_rate import PREFIX

__all__ = ["stored_conditions", "stored_params"]

_CARDS_USED = "cards_used"


def stored_conditions(sent: Result) -> Mapping[str, Any]:
    """A result of format 1.0 keeps its conditions as they are. Names are those of `facts.CONDITIONS`.

    Which cards worked together is what `cards` says, whose indexes were checked: a condition of that name says nothing.
    """
    more = dict(_more(sent))
    if not more and _CARDS_USED not in sent.conditions:
        return sent.conditions
    stated = {name: value for name, value in sent.conditions.items() if name != _CARDS_USED}
    return {**stated, **more}


def stored_params(sent: Result) -> Mapping[str, Any]:
    """What makes the setting: several cards are another one than a single card, on every machine."""
    return {**sent.params, "cards": len(sent.cards)} if len(sent.cards) > 1 else sent.params


def _more(sent: Result) -> Iterator[tuple[str, Any]]:
    if sent.rounds:
        yield "round_sizes", " ".join(str(len(list(of_round))) for _number, of_round in groupby(sent.rounds))
    if sent.framework:
        yield "framework", sent.framework
    if len(sent.cards) > 1:
        yield _CARDS_USED, " ".join(map(str, sent.cards))
    if sent.energy_j and any(sent.energy_j):
        yield "energy_per_run_j", fmean(sent.energy_j)  # the counter ticks slower than blocks: the mean, not the median
    if sent.enqueue_s and sent.unit == "s":
        yield "enqueue_ratio", min(1.0, median(sent.enqueue_s) / median(sent.samples))
    if sent.interference is not None:
        yield from _interference(sent.interference)


def _interference(noticed: Interference) -> Iterator[tuple[str, Any]]:
    for name in ("foreign_cpu_ratio", "steal_ratio", "card_ratio", "rounds_disturbed", "reruns"):
        value = getattr(noticed, name)
        if value is not None:
            yield PREFIX + name, value
    for name in ("processes", "card_processes"):
        if names := getattr(noticed, name):
            yield PREFIX + name, ", ".join(names)
