"""Results of several machines at one setting: a row of cells, and what may be compared. No queries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.base.stats import ratio
from stackviz.base.units import format_factor, format_in
from stackviz.draw.charts.bars import Meter, meter
from stackviz.pages.compare.leading import worst_outcome
from stackviz.records.series.comparability import Comparability, ComparabilityOutcome, is_rankable
from stackviz.records.series.measurement import Measurement, Rate
from stackviz.web.reverse import address_by_id

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
