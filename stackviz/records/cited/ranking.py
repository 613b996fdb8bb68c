"""Accelerators by their best cited result of one case, like for like: see `number_of_devices`. No query."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from stackviz.base.units import readable_unit
from stackviz.records.catalog.bare_names import family_slugs
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.models import CitedResult

# Results of one accelerator and setting differ by software, host and power: 22 % for equal GPUs in the worst of the
# systems studied (docs/results.md). A best that is further ahead than that stands alone.
LONE_LEAD = 1.25
# Below either, the best of a ranking is the best of whoever was asked, not the first of a field.
FEWEST_ACCELERATORS = 6
FEWEST_VENDORS = 2


@dataclass(frozen=True, slots=True)
class RankedAccelerator:
    """`results`: all of this accelerator in the ranking, best first. Equal amounts share a rank.

    A row of a family stands for a card that may be any of `family`: it has the name that the source prints, and its
    `accelerator` is only one of them.
    """

    rank: int
    accelerator: Accelerator
    results: tuple[CitedResult, ...]
    family: tuple[Accelerator, ...] = ()

    @property
    def name(self) -> str:
        return self.best.reported_name if self.family else self.accelerator.name

    @property
    def slug(self) -> str:
        """Of its sheet; "" where none is certain."""
        return "" if self.family else self.accelerator.slug

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


def ranked_with_families(
    benchmark: CitedBenchmark,
    results: Iterable[CitedResult],
    unmatched: Iterable[CitedResult],
    sheets: Mapping[str, Accelerator],
) -> tuple[tuple[RankedAccelerator, ...], list[CitedResult]]:
    """The ranking with a row for each family of `unmatched`, and the other results. `sheets`: by slug.

    Spellings of one family make one row.
    """
    by_family: dict[tuple[str, ...], list[CitedResult]] = defaultdict(list)
    others = []
    for result in sorted(unmatched, key=partial(best_first, benchmark)):
        slugs = tuple(slug for slug in family_slugs(result.reported_name) if slug in sheets)
        if slugs:
            by_family[slugs].append(result)
        else:
            others.append(result)
    rows = list(ranked_accelerators(benchmark, results))
    for slugs, group in by_family.items():
        family = tuple(sheets[slug] for slug in slugs)
        rows.append(RankedAccelerator(0, family[0], tuple(group), family))
    rows.sort(key=lambda row: best_first(benchmark, row.best))
    amounts = [row.best.amount_per_device for row in rows]
    return tuple(replace(row, rank=amounts.index(row.best.amount_per_device) + 1) for row in rows), others


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Whether a ranking has a first, which every page that names one asks.

    `row`: the first, None where it is not earned; `better`: results without a certain sheet that are better than the
    best of the ranking, best first. `is_of_merit`: whether the best figure of this benchmark is a merit at all.
    """

    row: RankedAccelerator | None
    better: Sequence[CitedResult]
    accelerators: int
    vendors: int
    is_of_merit: bool


def lead_of(benchmark: CitedBenchmark, rows: Sequence[RankedAccelerator], unranked: Iterable[CitedResult] = ()) -> Lead:
    """`rows`: the ranking, best first; `unranked`: results of its case without a certain sheet."""
    certain = [row for row in rows if not row.family]
    vendors = len({row.accelerator.vendor_id for row in certain})
    is_earned = benchmark.has_first and is_field(len(certain), vendors)
    better = [row for row in unranked if rows and _is_ahead(benchmark, row, rows[0].best)]
    return Lead(
        row=rows[0] if is_earned else None,
        better=sorted(better, key=partial(best_first, benchmark)),
        accelerators=len(certain),
        vendors=vendors,
        is_of_merit=benchmark.has_first,
    )


def is_field(accelerators: int, vendors: int) -> bool:
    """Whether these are enough for one of them to be the first."""
    return accelerators >= FEWEST_ACCELERATORS and vendors >= FEWEST_VENDORS


def _is_ahead(benchmark: CitedBenchmark, result: CitedResult, best: CitedResult) -> bool:
    """Whether a result may stand beside the best of a ranking, and is better."""
    is_alike = benchmark.adds_up or result.count == best.count
    return is_alike and is_better(benchmark, result, best)


def is_better(benchmark: CitedBenchmark, result: CitedResult, other: CitedResult) -> bool:
    """Whether one device of `result` reaches more than one of `other`, or less where less is better."""
    amounts = result.amount_per_device, other.amount_per_device
    return amounts[0] > amounts[1] if benchmark.higher_is_better else amounts[0] < amounts[1]


def times_as_fast(benchmark: CitedBenchmark, result: CitedResult, other: CitedResult) -> float:
    """Return how many times the first of two results of a benchmark is as fast: below 1 where it is slower."""
    ratio = result.amount / other.amount
    return ratio if benchmark.higher_is_better else 1 / ratio


def best_first(benchmark: CitedBenchmark, result: CitedResult) -> tuple[float, int]:
    amount = result.amount_per_device
    return -amount if benchmark.higher_is_better else amount, result.pk


def readable_symbol(rows: Sequence[RankedAccelerator], si: str) -> str:
    """The unit in which most of a ranking reads well: that of the median of the best."""
    return readable_unit(median(row.best.amount_per_device for row in rows), si) if rows else si
