"""Accelerators by their best cited result of one case, like for like: see `number_of_devices`. No query."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from stackviz.base.units import format_quantity
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.models import CitedResult

_SYMBOLS = {"µs": "us", "mm²": "mm2"}  # printed -> as units are named


# Results of one accelerator and setting differ by software, host and power: 22 % for equal GPUs in the worst of the
# systems studied (docs/results.md). A best that is further ahead than that stands alone.
LONE_LEAD = 1.25


@dataclass(frozen=True, slots=True)
class RankedAccelerator:
    """`results`: all of this accelerator in the ranking, best first. Equal amounts share a rank."""

    rank: int
    accelerator: Accelerator
    results: tuple[CitedResult, ...]

    @property
    def best(self) -> CitedResult:
        return self.results[0]

    @property
    def lone_lead(self) -> float | None:
        """How many times better the best is than the next, where that is over LONE_LEAD; None otherwise.

        Then no other result of this accelerator supports the one that stands for it, and pages say so, as they do where
        it is the only one.
        """
        if len(self.results) < 2:
            return None
        amounts = sorted(result.amount_per_device for result in self.results[:2])
        return amounts[1] / amounts[0] if amounts[0] > 0 and amounts[1] > amounts[0] * LONE_LEAD else None


def number_of_devices(benchmark: CitedBenchmark, results: Sequence[CitedResult]) -> int | None:
    """How many devices results must be of to stand beside one another; None for any number.

    Where devices add up, the share of one device is compared. Elsewhere the number must agree: it is the one that most
    accelerators have results of, the smaller of two.
    """
    numbers = {result.count for result in results}
    if benchmark.adds_up or len(numbers) < 2:
        return None
    having = {number: {row.accelerator_id for row in results if row.count == number} for number in numbers}
    return max(numbers, key=lambda number: (len(having[number]), -number))


def results_by_accelerator(
    benchmark: CitedBenchmark, results: Iterable[CitedResult]
) -> Mapping[int, Sequence[CitedResult]]:
    """Accelerator -> its results, best first; the accelerators in the order of their best result."""
    by_accelerator: dict[int, list[CitedResult]] = defaultdict(list)
    for result in sorted(results, key=partial(best_first, benchmark)):
        if result.accelerator_id is not None:
            by_accelerator[result.accelerator_id].append(result)
    return by_accelerator


def ranked_accelerators(benchmark: CitedBenchmark, results: Iterable[CitedResult]) -> tuple[RankedAccelerator, ...]:
    """Each accelerator once, in the order of its best result."""
    rows: list[RankedAccelerator] = []
    for number, group in enumerate(results_by_accelerator(benchmark, results).values(), 1):
        is_level = bool(rows) and rows[-1].best.amount_per_device == group[0].amount_per_device
        rank = rows[-1].rank if is_level else number
        if group[0].accelerator is not None:
            rows.append(RankedAccelerator(rank, group[0].accelerator, tuple(group)))
    return tuple(rows)


def better_than(
    first: RankedAccelerator, benchmark: CitedBenchmark, others: Iterable[CitedResult]
) -> list[CitedResult]:
    """Those of `others` that are better than the first of a ranking and may stand beside it, best first."""
    alike = [row for row in others if benchmark.adds_up or row.count == first.best.count]
    return sorted((row for row in alike if is_better(benchmark, row, first.best)), key=partial(best_first, benchmark))


def is_better(benchmark: CitedBenchmark, result: CitedResult, other: CitedResult) -> bool:
    """Whether one device of `result` reaches more than one of `other`, or less where less is better."""
    amounts = result.amount_per_device, other.amount_per_device
    return amounts[0] > amounts[1] if benchmark.higher_is_better else amounts[0] < amounts[1]


def best_first(benchmark: CitedBenchmark, result: CitedResult) -> tuple[float, int]:
    amount = result.amount_per_device
    return -amount if benchmark.higher_is_better else amount, result.pk


def readable_symbol(rows: Sequence[RankedAccelerator], si: str) -> str:
    """The unit in which most of a ranking reads well: that of the median of the best."""
    if not rows:
        return si
    middle = median(row.best.amount_per_device for row in rows)
    printed = format_quantity(middle, si).unit
    return _SYMBOLS.get(printed, printed) or si
