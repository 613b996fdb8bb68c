"""Which result a comparison leads with, and how far apart its machines are there. No database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stackviz.base.units import format_factor
from stackviz.records.series.comparability import (
    Comparability,
    ComparabilityOutcome,
    comparable,
    is_rankable,
    rate_of_ranked,
)
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.prominence import benchmark_place, dtype_place, is_accelerated, work_of


@dataclass(frozen=True, slots=True)
class LeadingSetting:
    """One setting, with the results that count of it: (slot of the machine, result), fastest first.

    `outcome`: the least favourable verdict of each against the fastest; None with one result.
    """

    results: tuple[tuple[int, Measurement], ...]
    outcome: ComparabilityOutcome | None


@dataclass(frozen=True, slots=True)
class RateFactor:
    """How many times the first rate is the second. `low` .. `high`: None where either has no interval, or is noisy or
    disturbed, so that nobody can tell.
    """

    factor: float
    low: float | None
    high: float | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out 1; without one nobody can tell."""
        return self.low is not None and self.low > 1

    @property
    def interval(self) -> tuple[str, str] | None:
        """`("1.9×", "2.1×")`; None where there is none, or where rounding leaves nothing of it."""
        if self.low is None or self.high is None:
            return None
        ends = format_factor(self.low), format_factor(self.high)
        return ends if ends[0] != ends[1] else None


def leading_setting(pairs: Sequence[Mapping[int, Measurement]]) -> LeadingSetting | None:
    """Of the settings (slot -> result), the one that most machines share on an accelerator, else on a processor.

    Of several it is the best known benchmark and data type, at the largest size: small ones measure how a program
    starts. None: no result counts.
    """
    counting = [{slot: result for slot, result in pair.items() if says_how_fast(result)} for pair in pairs]
    accelerated = [{slot: result for slot, result in pair.items() if is_accelerated(result)} for pair in counting]
    candidates = [pair for pair in accelerated if pair] or [pair for pair in counting if pair]
    if not candidates:
        return None
    foremost = max(map(_prominence, candidates))
    chosen = max((pair for pair in candidates if _prominence(pair) == foremost), key=lambda pair: work_of(_first(pair)))
    ranked = tuple(sorted(chosen.items(), key=lambda item: rate_of_ranked(item[1]).speed, reverse=True))
    return LeadingSetting(ranked, worst_outcome([result for _slot, result in ranked]))


def says_how_fast(result: Measurement) -> bool:
    """Whether it ranks, and by speed: how right a machine computes is no part of how fast it is."""
    return is_rankable(result) and result.benchmark is not None and result.benchmark.is_speed


def rate_factor(fastest: Measurement, slowest: Measurement) -> RateFactor:
    """Both must be rankable; their rates are in one unit. Of times the factor is of the longer to the shorter."""
    first, second = rate_of_ranked(fastest), rate_of_ranked(slowest)
    if first.is_time:
        first, second = second, first
    if any(result.summary is None or result.summary.is_uncertain for result in (fastest, slowest)):
        return RateFactor(first.value / second.value, None, None)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return RateFactor(first.value / second.value, None, None)
    return RateFactor(first.value / second.value, first.low / second.high, first.high / second.low)


def worst_outcome(results: Sequence[Measurement]) -> ComparabilityOutcome | None:
    """The least favourable of the verdicts of every result against the first; None with fewer than two."""
    if len(results) < 2:
        return None
    order = list(Comparability)
    verdicts = [comparable(results[0], other) for other in results[1:]]
    worst = max(verdicts, key=lambda verdict: order.index(verdict.answer))
    reasons = dict.fromkeys(reason for verdict in verdicts for reason in verdict.reasons)
    return ComparabilityOutcome(worst.answer, tuple(reasons))


def _prominence(pair: Mapping[int, Measurement]) -> tuple[int, int, int]:
    """Greater is better to lead with; of equal ones the largest."""
    first = _first(pair)
    return len(pair), -benchmark_place(first.benchmark_key), -dtype_place(first.params.get("dtype"))


def _first(pair: Mapping[int, Measurement]) -> Measurement:
    return next(iter(pair.values()))
