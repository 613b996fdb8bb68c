"""What machines measured in one setting, as rows of a file: the names that cited results have, and their own."""

from typing import Any

from stackviz.base.units import unit
from stackviz.pages.benchmarks.measured_ranking import run_address
from stackviz.records.series.measured_settings import (
    MeasuredAccelerator,
    MeasuredSetting,
    measured_settings,
    setting_shown,
)


def measured_rows(key: str, wanted: str = "", alike: str = "") -> list[dict[str, Any]]:
    """One row for each accelerator in the setting that the page shows, best first; [] where nothing was measured."""
    setting = setting_shown(measured_settings(key), wanted, alike)
    return [] if setting is None else [_row(row, setting) for row in setting.rows]


def _row(row: MeasuredAccelerator, setting: MeasuredSetting) -> dict[str, Any]:
    result, rate = row.best.result, row.best.rate
    least, middle, most = row.spread
    return {
        "rank": row.rank,
        "is_best": True,
        "slug": row.accelerator.slug,
        "name": row.accelerator.name,
        "vendor": row.accelerator.vendor.slug,
        "reported_name": result.card.reported_name if result.card else None,
        "devices": 1,
        "value": f"{rate.value:.6g}",
        "unit": setting.unit,
        "amount": rate.value,
        "amount_per_device": rate.value,
        "base_unit": unit(setting.unit).si,
        "low": rate.low,
        "high": rate.high,
        "bound": result.peak.peak if result.peak else None,
        "share_of_bound": result.peak.share if result.peak else None,
        "bound_by": result.peak.field if result.peak else None,
        "params": dict(result.params),
        "software": dict([result.software]) if result.software else {},
        "date": result.measured_at.date(),
        "source_title": None,
        "source_url": None,
        "note": "; ".join(filter(None, [row.best.remark, *result.remarks])),
        "result": run_address(result.report_id, result.position),
        "kind": "measured",
        "best_by": str(row.best.basis),
        "runs": row.best.runs,
        "machines": len(row.machines),
        "lowest": least,
        "median": middle,
        "highest": most,
    }
