"""A machine's newest results as bars: a group per benchmark, a part of it per device. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.utils.text import slugify
from django.utils.translation import gettext as _

from stackviz.benchmarks.chart import Charted, results_figure
from stackviz.benchmarks.comparability import is_rankable
from stackviz.benchmarks.measurement import Measurement
from stackviz.benchmarks.words import sample_text
from stackviz.charts.bars import Meter, chart_height, meter
from stackviz.light import light_dataclass
from stackviz.units import quantity_label


@light_dataclass(slots=True, kw_only=True)
class ResultRow:
    """One newest result. `label` is empty for a failed or skipped run, or one whose rate we cannot work out.

    `peak_at`: where on the bar the published peak lies, in per cent, or "".
    """

    series_id: int
    setting: str
    state: str
    label: str
    spread: str
    share: str
    is_above_peak: bool
    samples: int
    seconds: str
    remarks: tuple[str, ...]
    reason: str
    meter: Meter | None
    peak_at: str
    peak: str
    measured_at: datetime

    @property
    def url(self) -> str:
        """Of its series, relative to the page of the machine: in full it would be a tenth of that page."""
        return f"series/{self.series_id}/"


@dataclass(frozen=True, slots=True)
class DeviceResults:
    """The part of a group that ran on one device. `card`: the name it reported, or ""."""

    device: str
    card: str
    rows: tuple[ResultRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultGroup:
    """Results of one benchmark; all bars share a scale, so that a card and a CPU can be told apart at a glance.

    `key`: an id for the group on its page. `chart_height`: pixels that its chart takes, 0 where one bar is all.
    """

    key: str
    title: str
    formula: str
    devices: tuple[DeviceResults, ...]
    chart_height: int


def result_groups(measurements: Sequence[Measurement]) -> list[ResultGroup]:
    """`measurements` in the order of `latest_results`; accelerators come before the CPU."""
    return [_group(results) for results in _by_benchmark(measurements)]


def result_figures(measurements: Sequence[Measurement]) -> dict[str, dict[str, Any]]:
    """The chart of each group that has one, by its `key`, as Plotly reads it."""
    groups = _by_benchmark(measurements)
    return {_chart_key(results[0]): _figure(results) for results in groups if len(_timed(results)) > 1}


def _by_benchmark(measurements: Sequence[Measurement]) -> list[list[Measurement]]:
    ordered = sorted(measurements, key=lambda result: (result.benchmark_key, result.version, result.device == "cpu"))
    return [list(group) for _key, group in groupby(ordered, key=lambda result: (result.benchmark_key, result.version))]


def _chart_key(result: Measurement) -> str:
    return slugify(f"chart {result.benchmark_key} {result.version}")


def _timed(results: Sequence[Measurement]) -> list[Measurement]:
    """Those that count: a chart has a bar for each."""
    return [result for result in results if is_rankable(result)]


def _group(results: Sequence[Measurement]) -> ResultGroup:
    first = results[0]
    timed = _timed(results)
    scale = max((_top(result) for result in timed or results), default=0.0)  # of odd ones only where all are
    return ResultGroup(
        key=_chart_key(first),
        title=first.title,
        formula=first.benchmark.formula if first.benchmark else "",
        devices=tuple(
            _device(list(part), scale)
            for _key, part in groupby(results, key=lambda result: (result.device, result.card_index))
        ),
        chart_height=chart_height(len(timed)) if len(timed) > 1 else 0,
    )


def _device(results: Sequence[Measurement], scale: float) -> DeviceResults:
    first = results[0]
    card = first.card.reported_name if first.card else ""
    return DeviceResults(first.device, card, tuple(result_row(result, scale) for result in results))


def _top(result: Measurement) -> float:
    """The longest mark on this result's bar: the rate, the end of its interval, or the published peak."""
    if result.rate is None:
        return 0.0
    return max(result.rate.value, result.rate.high or 0.0, result.peak.peak if result.peak else 0.0)


def result_row(result: Measurement, scale: float) -> ResultRow:
    """`scale`: the rate that fills the bar."""
    rate, peak = result.rate, result.peak
    return ResultRow(
        series_id=result.series_id,
        setting=result.setting,
        state=result.state,
        label=rate.label if rate else "",
        spread=rate.spread_label if rate else "",
        share=peak.label if peak else "",
        is_above_peak=bool(peak and peak.is_above_peak),
        samples=result.summary.count if result.summary else 0,
        seconds=sample_text(result.summary.median, result.unit, digits=3) if result.summary else "",
        remarks=result.remarks,
        reason="" if result.is_ok else result.reason or _("no reason given"),
        meter=meter(rate.value, scale, rate.low, rate.high) if rate else None,
        peak_at=meter(peak.peak, scale).p if peak else "",
        peak=quantity_label(peak.peak, rate.unit, digits=4) if peak and rate else "",
        measured_at=result.measured_at,
    )


def _figure(results: Sequence[Measurement]) -> dict[str, Any]:
    """A bar for each result that has a rate, a colour per device."""
    timed = _timed(results)
    devices = list(dict.fromkeys(result.device for result in timed))
    return results_figure(
        results[0].title,
        [
            Charted(
                f"{result.setting} · {result.device}" if len(devices) > 1 else result.setting,
                devices.index(result.device),
                result,
            )
            for result in timed
        ],
    )
