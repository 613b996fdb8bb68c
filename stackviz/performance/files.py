"""The drawings as CSV and JSON: exactly the lines and points of the figure, with their sources."""

from typing import Any

from django.http import HttpResponse

from stackviz.performance.roofline import TERA, Roofline, RoofPoint, RoofRow
from stackviz.web.download import csv_response, json_response

ROOFLINE_HEADER = (
    "kind", "slug", "name", "dtype", "operator", "setting", "intensity_flop_per_byte", "drawn_tflop_per_s", "rate",
    "rate_unit", "share_of_roof", "bandwidth_b_per_s", "peak_flop_per_s", "ridge_flop_per_byte", "formula", "made",
    "condition", "basis", "source_title", "source_url", "result",
)  # fmt: skip


def roofline_file(roofline: Roofline, ending: str) -> HttpResponse:
    """Roofs first, then points; `drawn` are the coordinates of the drawing. A roof's are those of its ridge point."""
    rows = [*(_roof_out(row) for row in roofline.rows), *(_point_out(point) for point in roofline.points)]
    if ending == "csv":
        return csv_response("roofline", ROOFLINE_HEADER, [[row.get(name) for name in ROOFLINE_HEADER] for row in rows])
    data = {"rows": rows, "above_every_roof": [_point_out(point) for point in roofline.above], "notes": roofline.notes}
    return json_response("roofline", data)


def _roof_out(row: RoofRow) -> dict[str, Any]:
    return {
        "kind": "published" if row.peak.is_published else row.peak.basis,
        "slug": row.slug,
        "name": row.name,
        "dtype": row.dtype,
        "intensity_flop_per_byte": row.roof.ridge,
        "drawn_tflop_per_s": row.roof.peak / TERA,
        "bandwidth_b_per_s": row.bandwidth.amount,
        "peak_flop_per_s": row.peak.amount,
        "ridge_flop_per_byte": row.roof.ridge,
        "condition": row.peak.condition,
        "basis": row.peak.basis,
        "source_title": row.peak.source_title,
        "source_url": row.peak.source_url,
    }


def _point_out(point: RoofPoint) -> dict[str, Any]:
    operation = point.operation
    return {
        "kind": point.kind,
        "slug": point.accelerator.slug,
        "name": point.accelerator.name,
        "dtype": operation.dtype,
        "operator": operation.operator,
        "setting": point.setting,
        "intensity_flop_per_byte": operation.intensity,
        "drawn_tflop_per_s": operation.height / TERA,
        "rate": operation.rate,
        "rate_unit": point.rate_unit,
        "share_of_roof": point.share,
        "formula": operation.formula,
        "made": point.made,
        "source_title": point.source_title,
        "source_url": point.source_url,
        "result": point.url,
    }
