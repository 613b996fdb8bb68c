"""The best cited result of each accelerator in each case, in memory, and how far two accelerators are apart by them.

    best_cited()[accelerator.pk]          {BestKey: amount of one device in SI}
    like_for_like(first, second)          the geometric mean over the cases both have, benchmark by benchmark
    decode_rates([pk, pk])                the settings of decode benchmarks in which any of these has a result
    best_matmul("bf16")[accelerator.pk]   the best rate of one device in a matrix product, with its case

Read once for each edition and process: one query, 17,000 amounts, 3 MB in November 2026. Equal parameters and, where
devices do not add up, an equal number of devices make a case; software, host and date may differ.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import geometric_mean
from typing import NamedTuple

from django.db.models import Max, Min

from stackviz.base.stats import mean_of_groups
from stackviz.records.cited.benchmark import CitedBenchmark, Words
from stackviz.records.cited.cases import CitedCase, benchmark_cases, edition_of_cases, public_results
from stackviz.records.cited.registry import CITED_BENCHMARKS

# Benchmarks of tokens generated one after another, the one most visitors know first; `test` of each that is decoding.
DECODE_BENCHMARKS = ("llama-bench", "localscore", "mlx-lm")
DECODE_TEST = "tg"
MATMUL = "gemm"
_OF_LINKS = frozenset({"nccl-allreduce", "interconnect-bandwidth"})  # say how fast a system is wired


class BestKey(NamedTuple):
    """Results that may be compared. `devices`: how many worked together; 0 where the share of one is compared."""

    benchmark: str
    params_key: str
    devices: int


Bests = Mapping[BestKey, float]


@dataclass(frozen=True, slots=True)
class BenchmarkRatio:
    """The geometric mean over the settings of one benchmark that two accelerators share."""

    title: Words
    ratio: float
    settings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LikeForLike:
    """How many times the first accelerator is as fast as the second.

    `ratio`: geometric mean, every benchmark counting once; `lowest` .. `highest`: over single settings.
    """

    ratio: float
    lowest: float
    highest: float
    benchmarks: tuple[BenchmarkRatio, ...]

    @property
    def settings(self) -> int:
        return sum(each.settings for each in self.benchmarks)


@dataclass(frozen=True, slots=True)
class DecodeSetting:
    """One setting, and the best rate of each accelerator that has one, in token/s."""

    benchmark: CitedBenchmark
    case: CitedCase
    rates: Mapping[int, float]


def best_cited() -> Mapping[int, Bests]:
    """Accelerator pk -> its best amounts. One query in a process that has not read this edition yet."""
    return _best_cited(edition_of_cases())


@lru_cache(maxsize=2)
def _best_cited(_edition: str) -> Mapping[int, Bests]:
    rows = public_results().order_by().values_list("benchmark", "params_key", "accelerator_id", "count")
    keys: dict[BestKey, BestKey] = {}  # one in memory, however many accelerators have it
    bests: dict[int, dict[BestKey, float]] = defaultdict(dict)
    for name, params_key, pk, count, most, least in rows.annotate(Max("amount"), Min("amount")):
        benchmark = CITED_BENCHMARKS.get(name)
        if benchmark is None:
            continue
        amount = most if benchmark.higher_is_better else least
        key = BestKey(sys.intern(name), params_key, 0 if benchmark.adds_up else count)
        key = keys.setdefault(key, key)
        share = amount / count if benchmark.adds_up else amount
        known = bests[pk].get(key)
        if known is None or (share > known) == benchmark.higher_is_better:
            bests[pk][key] = share
    return bests


def like_for_like(first: int, second: int) -> LikeForLike | None:
    """Of two accelerators by primary key; None where they share no setting of a benchmark of their speed."""
    ours, theirs = (best_cited().get(pk, {}) for pk in (first, second))
    ratios: dict[str, list[float]] = defaultdict(list)
    for key in ours.keys() & theirs.keys():
        benchmark = CITED_BENCHMARKS[key.benchmark]
        if is_of_accelerator_speed(benchmark) and ours[key] > 0 and theirs[key] > 0:
            ratio = ours[key] / theirs[key]
            ratios[key.benchmark].append(ratio if benchmark.higher_is_better else 1 / ratio)
    if not ratios:
        return None
    benchmarks = tuple(
        BenchmarkRatio(benchmark.title, geometric_mean(ratios[key]), len(ratios[key]))
        for key, benchmark in CITED_BENCHMARKS.items()
        if key in ratios
    )
    return LikeForLike(
        ratio=mean_of_groups(ratios.values()),
        lowest=min(min(of_one) for of_one in ratios.values()),
        highest=max(max(of_one) for of_one in ratios.values()),
        benchmarks=benchmarks,
    )


def is_of_accelerator_speed(benchmark: CitedBenchmark) -> bool:
    """Whether it is a rate or a time of work: not of power, energy or the links between accelerators."""
    return benchmark.key not in _OF_LINKS and not any(unit == "W" or unit.startswith("J") for unit in benchmark.units)


def decode_rates(accelerators: Sequence[int]) -> list[DecodeSetting]:
    """The decode settings in which any of these has a result of one device, the best known first.

    Benchmark by benchmark, those that most accelerators have first. At most one query for each of DECODE_BENCHMARKS in
    a process that has not read this edition yet.
    """
    bests = {pk: best_cited().get(pk, {}) for pk in dict.fromkeys(accelerators)}
    settings = []
    for name in DECODE_BENCHMARKS:
        for case in decode_cases(name):
            key = BestKey(name, case.params_key, 1)
            rates = {pk: best[key] for pk, best in bests.items() if key in best}
            if rates:
                settings.append(DecodeSetting(CITED_BENCHMARKS[name], case, rates))
    return settings


def decode_cases(name: str) -> Sequence[CitedCase]:
    """The settings of a benchmark in which tokens are generated."""
    return _decode_cases(edition_of_cases(), name)


@lru_cache(maxsize=2 * len(DECODE_BENCHMARKS))
def _decode_cases(_edition: str, name: str) -> Sequence[CitedCase]:
    cases = benchmark_cases(name).cases_matching({})
    return tuple(case for case in cases if str(case.params.get("test", "")).startswith(DECODE_TEST))


def best_matmul(dtype: str) -> Mapping[int, tuple[float, CitedCase]]:
    """Accelerator pk -> the best rate of one device in a matrix product of this data type, and its case.

    At most one query beside that of `best_cited` in a process that has not read this edition yet.
    """
    return _best_matmul(edition_of_cases(), dtype)


@lru_cache(maxsize=8)
def _best_matmul(_edition: str, dtype: str) -> Mapping[int, tuple[float, CitedCase]]:
    cases = benchmark_cases(MATMUL).cases
    best: dict[int, tuple[float, CitedCase]] = {}
    for pk, bests in best_cited().items():
        for key, amount in bests.items():
            case = cases.get(key.params_key) if key.benchmark == MATMUL else None
            if case is not None and case.params.get("dtype") == dtype and amount > best.get(pk, (0.0, case))[0]:
                best[pk] = amount, case
    return best
