"""Results of several machines at one setting: a row of cells, what may be compared, and which setting leads the page.

No queries.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.base.stats import ratio
from stackviz.base.units import format_factor, format_in
from stackviz.draw.charts.bars import Meter, meter
from stackviz.draw.colours import Hue
from stackviz.records.series.comparability import (
    Comparability,
    ComparabilityOutcome,
    benchmark_place,
    comparable,
    dtype_place,
    is_accelerated,
    is_rankable,
    rate_of_ranked,
    work_of,
)
from stackviz.records.series.measurement import Measurement, Rate
from stackviz.web.http.addresses import address_by_id


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


Results = Mapping[int, Measurement]  # slot of a machine -> its result at one setting


@light_dataclass(slots=True, kw_only=True)
class MeasuredCell:
    """One machine's figure in a row. `text` in the unit of the row; "" for a failed or skipped run, or none at all.

    `label` has the unit that reads best. `missing` says why there is no rate; `result` is None where nothing ran.
    `receipt_url`: "" where it is the receipt of the whole column.
    """

    slot: int
    result: Measurement | None = None
    text: str = ""
    label: str = ""
    peak: str = ""
    spread: str = ""
    factor: str = ""
    is_best: bool = False
    missing: str = ""
    receipt_url: str = ""
    meter: Meter | None = None

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}"

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.result.remarks if self.result else ()


@light_dataclass(slots=True, kw_only=True)
class MeasuredRow:
    """One benchmark at one setting; a cell per machine, in column order. `verdict` None: nothing to compare.

    `compared`: the verdict in words, without what the results say themselves. `unit`: of `text` in every cell; `full`:
    what a full bar is in it, "" where no bar is drawn.
    """

    title: str
    setting: str
    unit: str
    full: str
    cells: tuple[MeasuredCell, ...]
    verdict: ComparabilityOutcome | None
    compared: str
    formula: str

    @property
    def measured_count(self) -> int:
        """How many of the machines ran it, with or without success."""
        return sum(cell.result is not None for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """The machines compared, by slot, in order. `base`: what factors are against; `reports`: the receipt of each."""

    names: Mapping[int, str]
    base: int | None
    reports: Mapping[int, UUID]
    hues: Mapping[int, Hue]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScale:
    """What rows of one data type share. `full`: the rate of a full bar, in the base unit."""

    unit: str
    full: float
    machines: Machines


def measured_row(results: Results, scale: RowScale) -> MeasuredRow:
    """The row of these results. `scale`: of all rows of its data type."""
    first = next(iter(results.values()))
    ok = {slot: result for slot, result in results.items() if result.is_ok and is_rankable(result)}
    top = max((result.rate.speed for result in ok.values() if result.rate), default=0.0)
    compared = ok if len(ok) > 1 else {slot: result for slot, result in results.items() if result.is_ok and result.rate}
    verdict = worst_outcome(list(compared.values()))
    may_rank = verdict is not None and verdict.answer is not Comparability.NOT_COMPARABLE
    best = top if may_rank and _stands_out(list(ok.values())) else None
    base = scale.machines.base
    baseline = ok.get(base) if may_rank and base is not None else None
    known = first.benchmark
    return MeasuredRow(
        title=first.title,
        setting=first.setting,
        unit=scale.unit,
        full=format_in(scale.full, scale.unit, 3).text if scale.unit else "",
        cells=tuple(
            _cell(slot, results[slot], scale, best=best, baseline=baseline)
            if slot in results
            else MeasuredCell(slot=slot, missing=_("not measured"))
            for slot in scale.machines.names
        ),
        verdict=verdict,
        compared=_in_words(verdict, results) if verdict else "",
        formula=known.formula if known else "",
    )


def _in_words(verdict: ComparabilityOutcome, results: Results) -> str:
    """`comparable, with remarks: torch differs`"""
    of_results = {remark for result in results.values() for remark in result.remarks}
    reasons = [reason for reason in verdict.reasons if reason not in of_results]
    return ": ".join(filter(None, (verdict.label, "; ".join(reasons))))


def _stands_out(results: Sequence[Measurement]) -> bool:
    """Whether the fastest is significantly faster than the next."""
    fastest, runner_up = sorted(results, key=lambda result: -(result.rate.speed if result.rate else 0.0))[:2]
    if fastest.summary is None or runner_up.summary is None:
        return False
    apart = ratio(fastest.summary, runner_up.summary)
    return apart is not None and apart.is_different is True


def _cell(
    slot: int, result: Measurement, scale: RowScale, *, best: float | None, baseline: Measurement | None
) -> MeasuredCell:
    """`best`, `baseline`: highest speed and first result; None where nothing is ranked."""
    rate, receipt = result.rate, ""
    if result.report_id != scale.machines.reports[slot]:
        receipt = address_by_id("ingest:receipt", result.report_id)
    if rate is None or result.summary is None:
        return MeasuredCell(slot=slot, result=result, missing=result.reason or result.state, receipt_url=receipt)
    counts = not result.why_set_aside
    base = baseline.rate if baseline and baseline is not result and counts else None
    return MeasuredCell(
        slot=slot,
        result=result,
        text=format_in(rate.value, scale.unit, 3).text,
        label=rate.label,
        peak=result.peak.label if result.peak else "",
        spread=_("cannot tell") if result.is_disturbed else rate.spread_label,
        factor=_factor(rate, base) if base else "",
        is_best=counts and rate.speed == best,
        receipt_url=receipt,
        meter=meter(rate.value, scale.full, rate.low, rate.high) if counts else None,
    )


def _factor(rate: Rate, base: Rate) -> str:
    """The factor over `base`; "" if it is not finite."""
    factor = rate.speed / base.speed if base.speed else math.inf
    return format_factor(factor) if math.isfinite(factor) else ""
