"""The past of a series as CSV: the points of its chart, oldest first, and the runs without a rate between them."""

from django.http import HttpResponse

from stackviz.pages.machines.drawn_history import draw_history
from stackviz.records.labs.models import Machine
from stackviz.records.series.history import history_of
from stackviz.records.series.measurement import benchmark
from stackviz.records.series.models import Series
from stackviz.web.download import csv_response

_HEADER = ("measured_at", "rate", "low", "high", "unit", "state", "reason", "standing", "report")


def series_csv(machine: Machine, series_pk: int) -> HttpResponse | None:
    """None while there is no chart. Raises Series.DoesNotExist, also for a series of another machine."""
    series = Series.objects.get(pk=series_pk, machine=machine)
    known, history = benchmark(series.benchmark, series.version), history_of(series)
    drawn = draw_history(history, known, series.params) if known else None
    if drawn is None:
        return None
    rows = [
        (point.at.isoformat(), point.value, point.low, point.high, drawn.unit,
         result.state, result.reason, result.standing, result.report_id)
        for point, result in zip(drawn.points, history.points, strict=True)
    ]  # fmt: skip
    return csv_response(f"{machine.slug} {series.benchmark} {series.pk}", _HEADER, rows)
