"""The rate that the figures of a result come to, and what disturbed its measurement: for agent, site and dumps."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stackviz.report.measuring.benchmark import AnyParams, Benchmark

__all__ = ["PREFIX", "StatedRate", "disturbances", "stated_rate"]


class StatedRate(NamedTuple):
    """A rate in `unit`. `low` .. `high`: its interval; None without one, or where an end of it cannot be."""

    value: float
    low: float | None
    high: float | None
    unit: str


def stated_rate(
    known: Benchmark | None,
    params: AnyParams,
    unit: str,
    middle: float | None,
    low: float | None = None,
    high: float | None = None,
) -> StatedRate | None:
    """The rate of a figure in `unit`, and of its interval.

    None where nobody knows the benchmark, its samples are in another unit, or the parameters do not define the rate.
    """
    if known is None or unit != known.sample_unit:
        return None
    value, lowest, highest = known.rates(params, middle, low, high)
    if value is None:
        return None
    if lowest is None or highest is None:
        lowest = highest = None
    return StatedRate(value, lowest, highest, known.unit_of(params))


DISTURBED_FROM = 0.05
"""A larger share of the processors, or of the card, in foreign hands: timings differ by about as much."""

PREFIX = "interference."
_OF_PROCESSOR = ("foreign_cpu_ratio", "steal_ratio")
_OF_CARD = ("card_ratio",)


def disturbances(conditions: Mapping[str, Any], device: str) -> dict[str, float]:
    """What disturbed a result on this device -> its share; empty: nothing did, or nobody looked.

    `conditions`: with names that begin with PREFIX. Other load on the processors does not slow a card down that has
    its work; Apple's chips share memory and power.
    """
    names = _OF_PROCESSOR if device.partition(":")[0] in {"cpu", "mps", "mlx"} else _OF_CARD
    shares = {name: conditions.get(PREFIX + name) for name in names}
    return {
        name: share
        for name, share in shares.items()
        if isinstance(share, int | float) and not isinstance(share, bool) and share > DISTURBED_FROM
    }
