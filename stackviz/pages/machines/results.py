"""A machine's newest results as bars: a group per benchmark, a part of it with a scale of its own per device."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from django.http import HttpResponse
from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.base.units import quantity_label
from stackviz.draw.charts.bars import Meter, meter
from stackviz.draw.charts.history import HistoryPoint
from stackviz.pages.machines.history import draw_history
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import latest_snapshots
from stackviz.records.series.comparability import is_rankable
from stackviz.records.series.history import history_of
from stackviz.records.series.measurement import Measurement, benchmark
from stackviz.records.series.models import Series
from stackviz.records.series.queries import Point, latest_results
from stackviz.records.series.words import remarks_of_all, sample_text
from stackviz.web.http.download import Columns, attributes, of_part, table_file
from stackviz.web.i18n.words import joined

NO_TORCH = "not_installed: torch"  # as the agent words it: stackviz/agent/cli.py


@light_dataclass(slots=True, kw_only=True)
class ResultRow:
    """One newest result. `label` is empty for a failed or skipped run, or one whose rate we cannot work out.

    `meter`: None where the scale is the published peak and there is none. `peak_at`: where on the bar the peak lies, in
    per cent, or "" where it is the end of the bar.
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


def drawn_in_order(measurements: Sequence[Measurement]) -> list[Measurement]:
    """`measurements` in the order of `latest_results`; accelerators come before the CPU. [] where torch is missing."""
    ordered = sorted(measurements, key=lambda result: (result.benchmark_key, result.version, result.device == "cpu"))
    return [] if all(result.reason.startswith(NO_TORCH) for result in ordered) else ordered


def result_groups(measurements: Sequence[Measurement]) -> list[tuple[Measurement, list[dict[str, object]]]]:
    """Return (one result, parts by device) for each benchmark, of the results that are drawn."""
    groups = groupby(drawn_in_order(measurements), key=lambda result: (result.benchmark_key, result.version))
    return [_by_device(list(results)) for _key, results in groups]


def _by_device(results: Sequence[Measurement]) -> tuple[Measurement, list[dict[str, object]]]:
    parts = groupby(results, key=lambda result: (result.device, result.card_index))
    return results[0], [_device(list(part)) for _key, part in parts]


def _device(results: Sequence[Measurement]) -> dict[str, object]:
    """Bars are shares of the published peaks where half of the results have one, else shares of the largest figure.

    `remarks` are those of every row; a row has only its own.
    """
    counted = [result for result in results if is_rankable(result)] or [result for result in results if result.rate]
    with_peak = [result for result in counted if result.peak]
    is_of_peak = len(with_peak) * 2 >= len(counted) > 0
    largest = max((_top(result) for result in counted), default=0.0)
    remarks = [result.remarks for result in results if result.is_ok]
    shared = remarks_of_all(remarks) if len(remarks) > 1 else ()
    return {
        "first": results[0],
        "scale": _scale_words(counted, largest, is_of_peak=is_of_peak),
        "remarks": shared,
        "rows": [result_row(result, None if is_of_peak else largest, shared) for result in results],
    }


def _scale_words(counted: Sequence[Measurement], largest: float, *, is_of_peak: bool) -> str:
    if is_of_peak:
        return _("full bar: the published peak of each setting")
    if largest <= 0:
        return ""
    unit = next(result.rate.unit for result in counted if result.rate)
    full = _("full bar: %(rate)s") % {"rate": quantity_label(largest, unit, digits=3)}
    return joined([full, _("Lower is better.") if unit == "s" else ""])


def _top(result: Measurement) -> float:
    """The longest mark on this result's bar: the rate, the end of its interval, or the published peak."""
    if result.rate is None:
        return 0.0
    return max(result.rate.value, result.rate.high or 0.0, result.peak.peak if result.peak else 0.0)


def reason_text(reason: str) -> str:
    """Why a run has no result. Without torch nothing can be run: then what to do."""
    if reason.startswith(NO_TORCH):
        return _("PyTorch is not installed for the Python that ran the agent. Install it, then run the agent again.")
    return reason or _("no reason given")


def interval_text(result: Measurement) -> str:
    """`±0.4 %`; that nobody can tell where something else was at work; "" where there are too few samples."""
    if result.is_disturbed:
        return _("cannot tell")
    return result.rate.spread_label if result.rate else ""


def result_row(result: Measurement, scale: float | None = None, shared: Sequence[str] = ()) -> ResultRow:
    """`scale`: the rate that fills the bar; None: the published peak, and no bar without one.

    `shared`: remarks that are said elsewhere.
    """
    rate, peak = result.rate, result.peak
    full = scale if scale is not None else peak.peak if peak else 0.0
    return ResultRow(
        series_id=result.series_id,
        setting=result.setting,
        state=result.state,
        label=rate.label if rate else "",
        spread=interval_text(result),
        share=peak.label if peak else "",
        is_above_peak=bool(peak and peak.is_above_peak),
        samples=result.summary.count if result.summary else 0,
        seconds=sample_text(result.summary.median, result.unit, digits=3) if result.summary else "",
        remarks=tuple(remark for remark in result.remarks if remark not in shared),
        reason="" if result.is_ok else reason_text(result.reason),
        meter=meter(rate.value, full, rate.low, rate.high) if rate and full > 0 else None,
        peak_at=meter(peak.peak, scale).p if peak and scale else "",
        peak=quantity_label(peak.peak, rate.unit, digits=4) if peak and rate else "",
        measured_at=result.measured_at,
    )


_RESULT: Columns[Measurement] = {
    "benchmark": lambda result: result.title,
    "setting": lambda result: result.setting,
    "device": lambda result: result.device,
    "card": lambda result: result.card.reported_name if result.card else None,
    "state": lambda result: result.state,
    **of_part(
        lambda result: result.rate,
        {"rate": lambda rate: rate.value, **attributes("low", "high", "unit")},
    ),
    **of_part(lambda result: result.peak, {"peak": lambda peak: peak.peak, "share_of_peak": lambda peak: peak.share}),
    "samples": lambda result: result.summary.count if result.summary else 0,
    "measured_at": lambda result: result.measured_at.isoformat(),
    "software": lambda result: " ".join(result.software) if result.software else None,
    "remarks": lambda result: "; ".join(result.remarks),
    "reason": lambda result: result.reason,
    "series": lambda result: result.series_id,
    "report": lambda result: result.report_id,
    "kind": lambda _: "measured",
}


def results_csv(machine: Machine) -> HttpResponse | None:
    """Return the newest results as they are drawn, without a rate where the page says why; None before any report."""
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return None
    results = latest_results([machine], [snapshot])[machine.pk]
    return table_file(f"{machine.slug} results", _RESULT, drawn_in_order(results))


def series_csv(machine: Machine, series_pk: int) -> HttpResponse | None:
    """Return the points of a series' chart, oldest first, and the runs without a rate; None while there is no chart.

    Raises Series.DoesNotExist, also for a series of another machine.
    """
    series = Series.objects.get(pk=series_pk, machine=machine)
    known, history = benchmark(series.benchmark, series.version), history_of(series)
    drawn = draw_history(history, known, series.params) if known else None
    if drawn is None:
        return None
    columns: Columns[tuple[HistoryPoint, Point]] = {
        "measured_at": lambda row: row[0].at.isoformat(),
        "rate": lambda row: row[0].value,
        "low": lambda row: row[0].low,
        "high": lambda row: row[0].high,
        "unit": lambda _: drawn.unit,
        "state": lambda row: row[1].state,
        "reason": lambda row: row[1].reason,
        "standing": lambda row: row[1].standing,
        "report": lambda row: row[1].report_id,
    }
    points = zip(drawn.points, history.points, strict=True)
    return table_file(f"{machine.slug} {series.benchmark} {series.pk}", columns, points)
