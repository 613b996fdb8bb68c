"""The best cited result of each accelerator in each case, in memory, and how far two accelerators are apart by them.

    best_cited()[accelerator.pk]          {BestKey: amount of one device in SI}
    like_for_like(first, second)          a factor for each kind of work, over the cases both have
    decode_rates([pk, pk])                the settings of decode benchmarks in which any of these has a result
    best_matmul("bf16")[accelerator.pk]   the best rate of one device in a matrix product, with its case

Read once for each edition and process: one query, 17,000 amounts, 3 MB in November 2026. Equal parameters make a case,
where devices do not add up with an equal number of devices, and the same precision and availability in any event;
software, host and date may differ.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from statistics import geometric_mean
from typing import NamedTuple

from django.db.models import Max, Min
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.stats import mean_of_groups
from stackviz.records.cited.benchmark import CitedBenchmark, Params, Words
from stackviz.records.cited.cases import CitedCase, benchmark_cases, edition_of_cases, public_results
from stackviz.records.cited.registry import CITED_BENCHMARKS

# Benchmarks of both ways a language model works, the one most visitors know first; `test` says which way.
LANGUAGE_BENCHMARKS = ("llama-bench", "localscore", "mlx-lm")
DECODE_TEST, PREFILL_TEST = "tg", "pp"
MATMUL = "gemm"
# Results of different values of these are never compared, also where a benchmark ranks them together.
_REGIME = ("precision", "availability")


class BestKey(NamedTuple):
    """Results that may be compared. `devices`: how many worked together; 0 where the share of one is compared.

    `regime`: precision and availability, in benchmarks that rank results of different ones together.
    """

    benchmark: str
    params_key: str
    devices: int
    regime: str = ""


Bests = Mapping[BestKey, float]


class Work(StrEnum):
    """Kinds of work that a factor is given for: each is bounded by something else, so that none is mixed."""

    GENERATING = "generating"
    READING = "reading"
    SERVING = "serving"
    INFERENCE = "inference"
    TRAINING = "training"
    LATENCY = "latency"
    OPERATORS = "operators"
    ARITHMETIC = "arithmetic"
    MEMORY = "memory"

    @property
    def label(self) -> str:
        """As a verb: `generates tokens`."""
        return str(_WORK_TITLES[self])


_WORK_TITLES = {
    Work.GENERATING: gettext_lazy("generates tokens"),
    Work.READING: gettext_lazy("reads prompts"),
    Work.SERVING: gettext_lazy("serves requests"),
    Work.INFERENCE: gettext_lazy("runs models"),
    Work.TRAINING: gettext_lazy("trains"),
    Work.LATENCY: gettext_lazy("answers one request"),
    Work.OPERATORS: gettext_lazy("runs single operators"),
    Work.ARITHMETIC: gettext_lazy("multiplies matrices"),
    Work.MEMORY: gettext_lazy("moves memory"),
}
# What else is cited says nothing of an accelerator's speed: power, energy, caches, links, launches.
_WORK = {
    "llm-decode": Work.GENERATING,
    "llm-prefill": Work.READING,
    "llm-throughput": Work.SERVING,
    "inference-throughput": Work.INFERENCE,
    "mlperf-inference": Work.INFERENCE,
    "diffusion-speed": Work.INFERENCE,
    "train-throughput": Work.TRAINING,
    "train-tokens-per-device": Work.TRAINING,
    "llm-inter-token-latency": Work.LATENCY,
    "llm-time-to-first-token": Work.LATENCY,
    "inference-latency": Work.LATENCY,
    "mlperf-latency": Work.LATENCY,
    "model-time": Work.LATENCY,
    "generation-time": Work.LATENCY,
    "operator-time": Work.OPERATORS,
    "gemm": Work.ARITHMETIC,
    "attention": Work.ARITHMETIC,
    "clpeak-compute": Work.ARITHMETIC,
    "babelstream": Work.MEMORY,
    "gpu-stream": Work.MEMORY,
    "memory-bandwidth": Work.MEMORY,
    "clpeak-bandwidth": Work.MEMORY,
    "fluidx3d": Work.MEMORY,
}


@dataclass(frozen=True, slots=True)
class SharedSetting:
    """A case that two accelerators have: their best amounts, and how many times the first is as fast."""

    key: BestKey
    first: float
    second: float
    ratio: float


@dataclass(frozen=True, slots=True)
class BenchmarkRatio:
    """The settings of one benchmark that two accelerators share, and the geometric mean of their ratios."""

    title: Words
    settings: tuple[SharedSetting, ...]

    @property
    def ratio(self) -> float:
        return geometric_mean([setting.ratio for setting in self.settings])


@dataclass(frozen=True, slots=True)
class LikeForLike:
    """How many times the first accelerator is as fast as the second in one kind of work.

    `dtype`: "" but for matrix products, whose rates differ by data type more than accelerators do.
    """

    work: Work
    dtype: str
    benchmarks: tuple[BenchmarkRatio, ...]

    @property
    def label(self) -> str:
        """As a verb: `generates tokens`, `multiplies matrices in bf16`."""
        if not self.dtype:
            return self.work.label
        return _("%(work)s in %(dtype)s") % {"work": self.work.label, "dtype": self.dtype}

    @property
    def ratio(self) -> float:
        """The geometric mean of the benchmarks' ratios: each counts once, however many settings it has."""
        return mean_of_groups([setting.ratio for setting in each.settings] for each in self.benchmarks)

    @property
    def settings(self) -> int:
        return sum(len(each.settings) for each in self.benchmarks)

    @property
    def extremes(self) -> tuple[float, float]:
        """The lowest and the highest ratio of a single setting."""
        ratios = [setting.ratio for each in self.benchmarks for setting in each.settings]
        return min(ratios), max(ratios)


@dataclass(frozen=True, slots=True)
class DecodeSetting:
    """One setting, and the best rate of each accelerator that has one, in token/s."""

    benchmark: CitedBenchmark
    case: CitedCase
    rates: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class _Cited:
    """What is read of an edition: the best amounts of each accelerator, the kind of work and data type of each case."""

    bests: Mapping[int, Bests]
    works: Mapping[BestKey, tuple[Work, str]]


def best_cited() -> Mapping[int, Bests]:
    """Accelerator pk -> its best amounts. One query in a process that has not read this edition yet."""
    return _read(edition_of_cases()).bests


@lru_cache(maxsize=2)
def _read(_edition: str) -> _Cited:
    columns = [f"params__{name}" for name in ("test", "dtype", *_REGIME)]
    rows = public_results().order_by().values_list("benchmark", "params_key", "accelerator_id", "count", *columns)
    keys: dict[BestKey, BestKey] = {}  # one in memory, however many accelerators have it
    bests: dict[int, dict[BestKey, float]] = defaultdict(dict)
    works: dict[BestKey, tuple[Work, str]] = {}
    for name, params_key, pk, count, test, dtype, *values, most, least in rows.annotate(Max("amount"), Min("amount")):
        benchmark = CITED_BENCHMARKS.get(name)
        if benchmark is None:
            continue
        amount = most if benchmark.higher_is_better else least
        loose = _loose_regime(benchmark, values)
        key = BestKey(sys.intern(name), params_key, 0 if benchmark.adds_up else count, loose)
        key = keys.setdefault(key, key)
        if work := kind_of_work(name, str(test or "")):
            works[key] = work, str(dtype or "") if work is Work.ARITHMETIC else ""
        share = amount / count if benchmark.adds_up else amount
        known = bests[pk].get(key)
        if known is None or (share > known) == benchmark.higher_is_better:
            bests[pk][key] = share
    return _Cited(bests, works)


def _loose_regime(benchmark: CitedBenchmark, values: Sequence[str | int | None]) -> str:
    """`fp8, available`: the values of `_REGIME` in which results of one case of this benchmark may differ.

    A value that a result does not state is "?"; `like_for_like` compares no such results.
    """
    names = [name for name in _REGIME if name in benchmark.parameters and name not in benchmark.compared]
    return sys.intern(", ".join(str(values[_REGIME.index(name)] or "?") for name in names))


def is_like_for_like(benchmark: CitedBenchmark, first: Params, second: Params) -> bool:
    """Whether results of one case may have a factor: of the same precision and availability, both stated."""
    regimes = [_loose_regime(benchmark, [params.get(name) for name in _REGIME]) for params in (first, second)]
    return "?" not in regimes[0] and regimes[0] == regimes[1]


def like_for_like(first: int, second: int) -> tuple[LikeForLike, ...]:
    """A factor for each kind of work in which two accelerators, by primary key, share a setting."""
    cited = _read(edition_of_cases())
    ours, theirs = (cited.bests.get(pk, {}) for pk in (first, second))
    shared: dict[tuple[Work, str], dict[str, list[SharedSetting]]] = defaultdict(lambda: defaultdict(list))
    for key in ours.keys() & theirs.keys():
        work = cited.works.get(key)
        if work is None or "?" in key.regime or min(ours[key], theirs[key]) <= 0:
            continue
        ratio = ours[key] / theirs[key]
        ratio = ratio if CITED_BENCHMARKS[key.benchmark].higher_is_better else 1 / ratio
        shared[work][key.benchmark].append(SharedSetting(key, ours[key], theirs[key], ratio))
    return tuple(
        LikeForLike(
            *work,
            tuple(
                BenchmarkRatio(benchmark.title, tuple(sorted(shared[work][name], key=lambda setting: setting.key)))
                for name, benchmark in CITED_BENCHMARKS.items()
                if name in shared[work]
            ),
        )
        for work in sorted(shared, key=lambda kind: (list(Work).index(kind[0]), kind[1]))
    )


def kind_of_work(benchmark: str, test: str = "") -> Work | None:
    """The kind of work; None where a benchmark does not count as the speed of an accelerator. `test`: its parameter."""
    if benchmark not in LANGUAGE_BENCHMARKS:
        return _WORK.get(benchmark)
    return Work.GENERATING if test.startswith(DECODE_TEST) else Work.READING if test.startswith(PREFILL_TEST) else None


PHASES = ("decode", "prefill", "")  # of language models, then other work: the order of pages


def phase_of(benchmark: str, params: Params) -> str:
    """Return which of PHASES the result is of: `decode` or `prefill` of a language model; "" for other work."""
    work = kind_of_work(benchmark, str(params.get("test", "")))
    return "decode" if work is Work.GENERATING else "prefill" if work is Work.READING else ""


def decode_rates(accelerators: Sequence[int]) -> list[DecodeSetting]:
    """The decode settings in which any of these has a result of one device, the best known first.

    Benchmark by benchmark, those that most accelerators have first. At most one query for each of LANGUAGE_BENCHMARKS
    in a process that has not read this edition yet.
    """
    bests = {pk: best_cited().get(pk, {}) for pk in dict.fromkeys(accelerators)}
    settings = []
    for name in LANGUAGE_BENCHMARKS:
        for case in decode_cases(name):
            key = BestKey(name, case.params_key, 1)
            rates = {pk: best[key] for pk, best in bests.items() if key in best}
            if rates:
                settings.append(DecodeSetting(CITED_BENCHMARKS[name], case, rates))
    return settings


def decode_cases(name: str) -> Sequence[CitedCase]:
    """The settings of a benchmark in which tokens are generated."""
    return _decode_cases(edition_of_cases(), name)


@lru_cache(maxsize=2 * len(LANGUAGE_BENCHMARKS))
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
