"""Whether two results may be compared, which speaks for an accelerator, and which of several is best. No queries."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from django.utils.translation import gettext as _

from stackviz.records.series.measurement import Measurement, Rate, is_elsewhere

Key = TypeVar("Key", bound=Hashable)

# Equal GPUs of one system differ by 8 % on average: Sinha et al., Not All GPUs Are Created Equal, SC22, abstract.
CONFIRMED_WITHIN = 0.08


class Comparability(StrEnum):
    """Can two results be compared?"""

    COMPARABLE = "comparable"
    WITH_REMARKS = "with-remarks"
    CANNOT_TELL = "cannot-tell"
    NOT_COMPARABLE = "not-comparable"


@dataclass(frozen=True, slots=True)
class ComparabilityOutcome:
    """The answer, and why. `reasons`: sentences for people; empty only for a plain yes."""

    answer: Comparability
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return {
            Comparability.COMPARABLE: _("comparable"),
            Comparability.WITH_REMARKS: _("comparable, with remarks"),
            Comparability.CANNOT_TELL: _("cannot tell"),
            Comparability.NOT_COMPARABLE: _("not comparable"),
        }[self.answer]


# Settings that change what is computed, or how: a difference is named.
_TELLING_CONDITIONS = (
    "framework", "mlx_version", "tf32", "matmul_precision", "reduced_precision_reduction", "fp16_accumulation",
    "blas_library", "deterministic", "math_environment", "fallback_allowed", "inputs",
    "llama_cpp_version", "nccl_version",
)  # fmt: skip


def comparable(a: Measurement, b: Measurement) -> ComparabilityOutcome:
    """Whether these two results may be compared, and what to keep in mind when they are.

    Not if they measured different things. "Cannot tell" when one has too few samples for an interval, was disturbed by
    other load, or ran partly elsewhere. Otherwise yes, with a remark for each difference in software, power limit,
    throttling or precision.
    """
    refusals = tuple(_refusals(a, b))
    if refusals:
        return ComparabilityOutcome(Comparability.NOT_COMPARABLE, refusals)
    remarks = (*_differences(a, b), *_of_each(a, b))
    doubts = tuple(_doubts(a, b))
    if doubts:
        return ComparabilityOutcome(Comparability.CANNOT_TELL, (*doubts, *remarks))
    return ComparabilityOutcome(Comparability.WITH_REMARKS if remarks else Comparability.COMPARABLE, remarks)


def is_refused(result: Measurement) -> bool:
    """Whether a result cannot be compared at all: no samples, on another device than requested, or set aside."""
    return not result.is_ok or is_elsewhere(result) or bool(result.why_set_aside)


def _refusals(a: Measurement, b: Measurement) -> Iterator[str]:
    if a.benchmark_key != b.benchmark_key:
        yield _("different benchmarks")
    elif a.version != b.version:
        yield _("different versions of the benchmark: %(a)s and %(b)s") % {"a": a.version, "b": b.version}
    elif a.params_key != b.params_key:
        yield _("different parameters: %(a)s and %(b)s") % {"a": a.setting, "b": b.setting}
    elif a.unit != b.unit:
        yield _("different units: %(a)s and %(b)s") % {"a": a.unit, "b": b.unit}
    for result in (a, b):
        if not result.is_ok:
            yield _("no samples: %(reason)s") % {"reason": result.reason or result.state}
        elif is_elsewhere(result):
            yield _("requested %(asked)s, ran on %(used)s") % {
                "asked": result.device,
                "used": result.conditions.get("device_used"),
            }
        elif result.why_set_aside:
            yield _("set aside: %(reasons)s") % {"reasons": ", ".join(result.why_set_aside)}


def _doubts(a: Measurement, b: Measurement) -> Iterator[str]:
    for result in (a, b):
        if result.summary and result.summary.low is None:
            yield _("too few samples for an interval: %(count)s") % {"count": result.summary.count}
        if result.conditions.get("fallback") is True:
            yield _("an operator ran on the CPU instead: how much of the time is not known")
        if result.is_disturbed:
            yield _("something else was at work on %(device)s: how much slower that made it is not known") % {
                "device": result.device
            }


def _differences(a: Measurement, b: Measurement) -> Iterator[str]:
    is_by_torch = (a.benchmark is None or a.benchmark.is_run_by_agent) and not (a.is_by_mlx or b.is_by_mlx)
    if is_by_torch and a.torch_version != b.torch_version:
        unknown = _("not reported")
        yield _("torch differs: %(a)s and %(b)s") % {"a": a.torch_version or unknown, "b": b.torch_version or unknown}
    for name in _TELLING_CONDITIONS:
        if name in a.conditions and name in b.conditions and a.conditions[name] != b.conditions[name]:
            yield _("%(name)s differs: %(a)s and %(b)s") % {
                "name": name,
                "a": a.conditions[name],
                "b": b.conditions[name],
            }


def _of_each(a: Measurement, b: Measurement) -> Iterator[str]:
    """What is special about either run alone, once each; what `_doubts` says already is left out."""
    doubts = {_("an operator ran on the CPU instead")}
    yield from dict.fromkeys(remark for result in (a, b) for remark in result.remarks if remark not in doubts)


# --- of many results ---


def is_of_whole_card(result: Measurement) -> bool:
    """True for a rate that the accelerator itself reached: it ran, on all of the card, and nowhere else.

    A slice of a card (MIG), a fallback to the CPU and a run on another device than requested say nothing of the
    accelerator's rate.
    """
    card = result.card
    if result.rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return False
    return not is_refused(result) and result.conditions.get("fallback") is not True


class Basis(StrEnum):
    """What makes a run the best of its kind."""

    CONFIRMED = "confirmed"
    MEDIAN = "median"
    ALONE = "alone"


@dataclass(frozen=True, slots=True)
class BestRun:
    """The run that speaks for several. `runs`: how many were looked at, of the same setting; `fastest`: of those."""

    result: Measurement
    basis: Basis
    runs: int
    fastest: Measurement

    @property
    def rate(self) -> Rate:
        return rate_of_ranked(self.result)

    @property
    def remark(self) -> str:
        """What a reader must know beside the figure; "" where another run confirms it."""
        if self.basis is Basis.ALONE:
            return _("a single run: nothing confirms it")
        if self.result is self.fastest:
            return ""
        words = {"n": self.runs, "rate": rate_of_ranked(self.fastest).label}
        if self.basis is Basis.MEDIAN:
            return _("the runs differ: the median of %(n)d; the fastest is %(rate)s") % words
        return _("a faster run, %(rate)s, is confirmed by none of %(n)d") % words


def is_rankable(result: Measurement) -> bool:
    """Whether a result may stand in a ranking: it has a rate and is not set aside."""
    return result.rate is not None and not result.why_set_aside


def rate_of_ranked(result: Measurement) -> Rate:
    """The rate of a result that `is_rankable`."""
    if result.rate is None:
        raise ValueError(f"result {result.report_id}/{result.position} has no rate")
    return result.rate


def robust_best(results: Iterable[Measurement]) -> BestRun | None:
    """The run of one setting that speaks for all: the best that another one confirms (docs/results.md).

    Where none confirms another it is the median run, the lower of two; a single one is said to be alone. Runs under
    different power limits, or by torch and by MLX, do not speak for or against each other: the best of each is found,
    and the highest of these returned. Results that are set aside or have no rate are left out; None where nothing is
    left.
    """
    alike: dict[tuple[int | None, bool], list[Measurement]] = {}
    for result in results:
        if is_rankable(result):
            alike.setdefault((lowered_power_limit(result), result.is_by_mlx), []).append(result)
    return max(map(_best_of_alike, alike.values()), key=lambda best: best.rate.speed, default=None)


def lowered_power_limit(result: Measurement) -> int | None:
    """The limit in watts where it is below that of the factory; None where it is not, or not reported."""
    cap = result.card.power_cap if result.card else None
    return round(cap[0]) if cap else None


def _best_of_alike(results: Iterable[Measurement]) -> BestRun:
    """The robust best of runs of one setting under one power limit, at least one, all rankable."""
    ranked = sorted(results, key=lambda result: -rate_of_ranked(result).speed)
    if len(ranked) == 1:
        return BestRun(ranked[0], Basis.ALONE, 1, ranked[0])
    for result, runner_up in pairwise(ranked):
        if _confirms(runner_up, result):
            return BestRun(result, Basis.CONFIRMED, len(ranked), ranked[0])
    return BestRun(ranked[len(ranked) // 2], Basis.MEDIAN, len(ranked), ranked[0])


def _confirms(lower: Measurement, higher: Measurement) -> bool:
    """Whether the lower rate is near the higher: within CONFIRMED_WITHIN, or their intervals, both narrow, overlap."""
    low, high = rate_of_ranked(lower), rate_of_ranked(higher)
    if low.speed >= high.speed * (1 - CONFIRMED_WITHIN):
        return True
    if low.is_time:  # the slower run has the longer time
        low, high = high, low
    if low.high is None or high.low is None or not (_is_narrow(low) and _is_narrow(high)):
        return False
    return low.high >= high.low


def _is_narrow(rate: Rate) -> bool:
    """Whether the interval reaches at most CONFIRMED_WITHIN to either side: a run that scatters confirms nothing."""
    return rate.low is not None and rate.high is not None and rate.high - rate.low <= 2 * CONFIRMED_WITHIN * rate.value


def best_by(key: Callable[[Measurement], Key], results: Iterable[Measurement]) -> dict[Key, BestRun]:
    """For each key the robust best: of each setting the run that speaks for it, of those the highest rate."""
    by_setting: dict[tuple[Key, tuple[str, int, str]], list[Measurement]] = {}
    for result in results:
        by_setting.setdefault((key(result), result.pair), []).append(result)
    best: dict[Key, BestRun] = {}
    for (name, _pair), runs in by_setting.items():
        best_run = robust_best(runs)
        if best_run is not None and (name not in best or best_run.rate.speed > best[name].rate.speed):
            best[name] = best_run
    return best


# --- which results come first ---

BENCHMARKS = ("gemm", "llama-bench", "memory-copy")
DTYPES = ("bf16", "fp16", "tf32", "fp32", "fp64", "fp8", "mxfp8", "nvfp4", "int8")


def benchmark_place(key: str) -> int:
    """From 0; every other benchmark comes after those of BENCHMARKS."""
    return BENCHMARKS.index(key) if key in BENCHMARKS else len(BENCHMARKS)


def dtype_place(dtype: object) -> int:
    """From 0; every other data type, or none, comes after those of DTYPES."""
    return DTYPES.index(dtype) if isinstance(dtype, str) and dtype in DTYPES else len(DTYPES)


def work_of(result: Measurement) -> float:
    """How much there was to do: bytes moved or operations; 0 where nobody can tell."""
    return (result.benchmark.work(result.params) if result.benchmark else None) or 0.0


def is_accelerated(result: Measurement) -> bool:
    """Whether it ran on an accelerator, not on the processor."""
    return result.card is not None or not result.device.startswith("cpu")
