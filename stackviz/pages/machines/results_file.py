"""The results of a machine as CSV: the bars of its page, and the past of one series."""

from django.http import HttpResponse

from stackviz.draw.charts.history import HistoryPoint
from stackviz.pages.machines.drawn_history import draw_history
from stackviz.pages.machines.results import drawn_in_order
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import latest_snapshots
from stackviz.records.series.history import history_of
from stackviz.records.series.measurement import Measurement, benchmark
from stackviz.records.series.models import Series
from stackviz.records.series.queries import Point, latest_results
from stackviz.web.download import Columns, attributes, of_part, table_file

__all__ = ["results_csv", "series_csv"]

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
