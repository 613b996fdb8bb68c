"""What the figures of a result come to as a rate, wherever the result is from: report, dump, or the run at hand."""

from typing import NamedTuple

from stackviz.report.measuring.benchmark import AnyParams, Benchmark

__all__ = ["StatedRate", "stated_rate"]


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
