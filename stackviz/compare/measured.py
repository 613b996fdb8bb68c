"""Results of several machines side by side: which pair up, how long each bar is, what may be compared. No queries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from statistics import mode
from typing import Any
from uuid import UUID

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from stackviz.benchmarks.chart import Charted, results_figure
from stackviz.benchmarks.comparability import (
    Comparability,
    ComparabilityOutcome,
    is_rankable,
    rate_of_ranked,
)
from stackviz.benchmarks.measurement import Measurement, Rate
from stackviz.charts.bars import Meter, chart_height, meter
from stackviz.compare.leading import LeadingSetting, leading_setting, worst_outcome
from stackviz.light import light_dataclass
from stackviz.stats import ratio
from stackviz.units import format_factor
from stackviz.web.reverse import address_by_id

Pair = tuple[str, int, str]


@light_dataclass(slots=True, kw_only=True)
class MeasuredCell:
    """One machine's figure in a row. `label` is empty for a failed or skipped run: `missing` says why then.

    `details`: the device, the share of the published peak, half the interval, how many samples. `receipt_url`: "" where
    it is the receipt of the whole column; otherwise it is the address of `samples`, which `details` leaves out.
    """

    slot: int
    label: str = ""
    details: str = ""
    peak: str = ""
    factor: str = ""
    is_best: bool = False
    samples: str = ""
    remarks: tuple[str, ...] = ()
    missing: str = ""
    receipt_url: str = ""
    meter: Meter | None = None

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}"


@light_dataclass(slots=True)
class MeasuredRow:
    """One benchmark at one setting; a cell per machine, in column order. `verdict` None: nothing to compare."""

    title: str
    setting: str
    cells: tuple[MeasuredCell, ...]
    verdict: ComparabilityOutcome | None
    formula: str


@dataclass(frozen=True, slots=True)
class MeasuredGroup:
    """Rows of one benchmark that stand together."""

    formula: str
    rows: tuple[MeasuredRow, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The bars of one benchmark, in one unit: of each the machine's slot and name. `height`: pixels that it takes."""

    id: str
    title: str
    bars: tuple[tuple[int, str, Measurement], ...]

    @property
    def height(self) -> int:
        return chart_height(len(self.bars))

    @property
    def figure(self) -> dict[str, Any]:
        """The Plotly figure, as plain data."""
        charted = [Charted(f"{name} · {result.setting}", slot, result) for slot, name, result in self.bars]
        return results_figure(self.title, charted)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured part of a comparison: the table, and a chart per benchmark.

    `receipts`: slot of a machine -> the receipt of most of its column. `leading` None: no result counts.
    """

    groups: tuple[MeasuredGroup, ...]
    charts: tuple[Chart, ...]
    receipts: Mapping[int, str]
    leading: LeadingSetting | None

    @property
    def rows(self) -> tuple[MeasuredRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


def measure(results: Sequence[tuple[int, str, Sequence[Measurement]]], base: int | None = None) -> Measured:
    """`results`: (slot of the subject, its name, its newest results) for each machine compared.

    `base`: the slot factors are against, None for the first. Results pair up when benchmark, version and parameters
    are equal. Of several devices of one machine that ran the same, the fastest stands in the cell.
    """
    by_pair: dict[Pair, dict[int, Measurement]] = {}
    for position, _name, measurements in results:
        for measurement in measurements:
            by_position = by_pair.setdefault(measurement.pair, {})
            if position not in by_position or _is_faster(measurement, by_position[position]):
                by_position[position] = measurement
    positions = [position for position, _name, _measurements in results]
    pairs = sorted(by_pair.values(), key=_reading_order)
    names = {position: name for position, name, _measurements in results}
    against = positions[0] if base is None and positions else base
    reports = _main_reports(pairs)
    language = get_language()
    rows = (_row(positions, pair, against, reports, language) for pair in pairs)
    groups = tuple(MeasuredGroup(formula, tuple(group)) for formula, group in groupby(rows, lambda row: row.formula))
    receipts = {slot: address_by_id("ingest:receipt", report) for slot, report in reports.items()}
    return Measured(groups, tuple(_charts(names, pairs)), receipts, leading_setting(pairs))


def _main_reports(pairs: Sequence[Mapping[int, Measurement]]) -> dict[int, UUID]:
    """Slot -> the report that most of its results are from."""
    reports: dict[int, list[UUID]] = {}
    for pair in pairs:
        for slot, result in pair.items():
            reports.setdefault(slot, []).append(result.report_id)
    return {slot: mode(ids) for slot, ids in reports.items()}


def _is_faster(candidate: Measurement, current: Measurement) -> bool:
    """Whether this result stands for the machine; one that is set aside only where there is no other."""
    return _standing_rate(candidate) > _standing_rate(current)


def _standing_rate(result: Measurement) -> tuple[bool, float]:
    return is_rankable(result), result.rate.value if result.rate else 0.0


def _reading_order(pair: Mapping[int, Measurement]) -> tuple[Any, ...]:
    """Rows that several machines share come first, then by benchmark and setting."""
    first = next(iter(pair.values()))
    sizes = [value for value in first.params.values() if isinstance(value, int | float)]
    return -len(pair), first.benchmark_key, str(first.params.get("dtype", "")), sizes


def _row(
    slots: Sequence[int],
    pair: Mapping[int, Measurement],
    base: int | None,
    reports: Mapping[int, UUID],
    language: str | None,
) -> MeasuredRow:
    """`reports`: slot -> the report whose receipt stands over its column."""
    first = next(iter(pair.values()))
    ok = {slot: result for slot, result in pair.items() if result.is_ok and is_rankable(result)}
    rates = [result.rate.value for result in ok.values() if result.rate]
    top = max(rates, default=0.0)
    # Bars of a row share a scale: the highest published peak if known, so that a single bar is meaningful.
    scale = max([*rates, *(result.peak.peak for result in ok.values() if result.peak)], default=0.0)
    baseline = None if base is None else ok.get(base)
    compared = ok if len(ok) > 1 else {slot: result for slot, result in pair.items() if result.is_ok and result.rate}
    verdict = worst_outcome(list(compared.values()))
    may_rank = verdict is not None and verdict.answer is not Comparability.NOT_COMPARABLE
    best = top if may_rank and _stands_out(list(ok.values())) else None
    cells = tuple(
        _cell(
            slot,
            pair[slot],
            scale,
            best=best,
            baseline=baseline if may_rank else None,
            report_of_column=reports[slot],
            language=language,
        )
        if slot in pair
        else MeasuredCell(slot=slot, missing=_("not measured"))
        for slot in slots
    )
    known = first.benchmark
    return MeasuredRow(first.title, first.setting, cells, verdict, known.formula if known else "")


def _stands_out(results: Sequence[Measurement]) -> bool:
    """Whether the fastest is significantly faster than the next."""
    fastest, runner_up = sorted(results, key=lambda result: -(result.rate.value if result.rate else 0.0))[:2]
    if fastest.summary is None or runner_up.summary is None:
        return False
    apart = ratio(fastest.summary, runner_up.summary)
    return apart is not None and apart.is_different is True


def _cell(
    slot: int,
    result: Measurement,
    scale: float,
    best: float | None,
    baseline: Measurement | None,
    report_of_column: UUID,
    language: str | None,
) -> MeasuredCell:
    """`scale`: rate of a full bar. `best`, `baseline`: highest rate and first result; None where nothing is ranked."""
    rate, receipt = result.rate, ""
    if result.report_id != report_of_column:
        receipt = address_by_id("ingest:receipt", result.report_id)
    if rate is None or result.summary is None:
        return MeasuredCell(slot=slot, missing=result.reason or result.state, receipt_url=receipt)
    peak = result.peak.label if result.peak else ""
    samples = _samples(result.summary.count, language)
    of_peak = _of_peak(language) % {"share": peak} if peak else ""
    details = (result.device, of_peak, rate.spread_label, "" if receipt else samples)
    counts = not result.why_set_aside
    base = baseline.rate if baseline and baseline is not result and counts else None
    return MeasuredCell(
        slot=slot,
        label=rate.label,
        details=" · ".join(filter(None, details)),
        peak=peak,
        factor=_factor(rate, base) if base else "",
        is_best=counts and rate.value == best,
        samples=samples,
        remarks=result.remarks,
        receipt_url=receipt,
        meter=meter(rate.value, scale, rate.low, rate.high) if counts else None,
    )


@lru_cache(maxsize=16)
def _of_peak(_language: str | None) -> str:
    return _("%(share)s of peak")


@lru_cache(maxsize=256)
def _samples(count: int, _language: str | None) -> str:
    return _("%(n)s samples") % {"n": count}


def _factor(rate: Rate, base: Rate) -> str:
    """The factor over `base`; "" if it is not finite."""
    factor = rate.value / base.value if base.value else math.inf
    return format_factor(factor) if math.isfinite(factor) else ""


def _charts(names: Mapping[int, str], pairs: Sequence[Mapping[int, Measurement]]) -> list[Chart]:
    """One bar chart per benchmark: a bar for each machine and setting that counts."""
    bars: dict[tuple[str, str], list[tuple[int, str, Measurement]]] = {}
    for pair in pairs:
        for slot, result in pair.items():
            if is_rankable(result):
                bars.setdefault((result.title, rate_of_ranked(result).unit), []).append((slot, names[slot], result))
    return [Chart(f"chart-{number}", title, tuple(bars[title, si])) for number, (title, si) in enumerate(bars, 1)]
