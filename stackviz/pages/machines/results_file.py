"""The bars of a machine's page as CSV: its newest results, as they are drawn."""

from collections.abc import Sequence

from django.http import HttpResponse

from stackviz.pages.machines.results import drawn_in_order
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import latest_snapshots
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.queries import latest_results
from stackviz.web.download import csv_response

__all__ = ["results_csv"]

HEADER = (
    "benchmark", "setting", "device", "card", "state", "rate", "low", "high", "unit", "peak", "share_of_peak",
    "samples", "measured_at", "software", "remarks", "reason", "series", "report", "kind",
)  # fmt: skip


def results_csv(machine: Machine) -> HttpResponse | None:
    """None before the machine's first report was read. A row each, without a rate where the page says why."""
    snapshot = latest_snapshots([machine]).get(machine.pk)
    if snapshot is None:
        return None
    results: Sequence[Measurement] = latest_results([machine], [snapshot])[machine.pk]
    return csv_response(f"{machine.slug} results", HEADER, [_row(result) for result in drawn_in_order(results)])


def _row(result: Measurement) -> tuple[object, ...]:
    rate, peak = result.rate, result.peak
    return (
        result.title, result.setting, result.device, result.card.reported_name if result.card else None, result.state,
        rate.value if rate else None, rate.low if rate else None, rate.high if rate else None,
        rate.unit if rate else None, peak.peak if peak else None, peak.share if peak else None,
        result.summary.count if result.summary else 0, result.measured_at.isoformat(),
        " ".join(result.software) if result.software else None, "; ".join(result.remarks), result.reason,
        result.series_id, result.report_id, "measured",
    )  # fmt: skip
