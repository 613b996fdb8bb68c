"""The drawings as CSV and JSON: exactly the lines and points of the figure, with their sources."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse

from stackviz.pages.benchmarks.curves import CurvePoint
from stackviz.pages.benchmarks.roofline import TERA, Roofline, RoofPoint
from stackviz.pages.benchmarks.roofs import RoofRow
from stackviz.pages.benchmarks.scaling import DrawnCurve, ScalingPlot
from stackviz.pages.benchmarks.selection import ShareChoice
from stackviz.pages.benchmarks.share import SharePoint, ShareRow
from stackviz.web.download import csv_response, json_response

ROOFLINE_HEADER = (
    "kind", "slug", "name", "dtype", "operator", "setting", "intensity_flop_per_byte", "drawn_tflop_per_s", "rate",
    "rate_unit", "share_of_roof", "bandwidth_b_per_s", "peak_flop_per_s", "ridge_flop_per_byte", "formula", "made",
    "condition", "basis", "source_title", "source_url", "result", "bandwidth_source_title", "bandwidth_source_url",
)  # fmt: skip


def roofline_file(roofline: Roofline, ending: str) -> HttpResponse:
    """Roofs first, then points; `drawn` are the coordinates of the drawing. A roof's are those of its ridge point.

    A roof that is a peak alone has its height, one that is a bandwidth alone neither.
    """
    rows = [*(_roof_out(row) for row in roofline.rows), *(_point_out(point) for point in roofline.points)]
    if ending == "csv":
        return csv_response("roofline", ROOFLINE_HEADER, [[row.get(name) for name in ROOFLINE_HEADER] for row in rows])
    data = {"rows": rows, "above_every_roof": [_point_out(point) for point in roofline.above], "notes": roofline.notes}
    return json_response("roofline", data)


def _roof_out(row: RoofRow) -> dict[str, Any]:
    peak, bandwidth, first = row.peak, row.bandwidth, row.ceilings[0]
    return {
        "kind": "published" if first.is_published else first.basis,
        "slug": row.slug,
        "name": row.name,
        "dtype": row.dtype,
        "intensity_flop_per_byte": row.roof.ridge,
        "drawn_tflop_per_s": peak.amount / TERA if peak else None,
        "bandwidth_b_per_s": bandwidth.amount if bandwidth else None,
        "peak_flop_per_s": peak.amount if peak else None,
        "ridge_flop_per_byte": row.roof.ridge,
        "condition": first.condition,
        "basis": first.basis,
        "source_title": first.source_title,
        "source_url": first.source_url,
        "bandwidth_source_title": bandwidth.source_title if bandwidth else "",
        "bandwidth_source_url": bandwidth.source_url if bandwidth else "",
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


SHARE_HEADER = (
    "rank", "kind", "slug", "name", "vendor", "of", "share_percent", "rate", "peak", "base_unit", "peak_field",
    "condition", "basis", "setting", "made", "source_title", "source_url", "peak_source_title", "peak_source_url",
    "result",
)  # fmt: skip


def share_file(rows: Sequence[ShareRow], choice: ShareChoice, ending: str) -> HttpResponse:
    """Every dot of all pages, the highest share first."""
    name = f"share of peak {choice.of}"
    drawn = [_share_out(row, point, choice.of) for row in rows for point in row.points]
    if ending == "csv":
        return csv_response(name, SHARE_HEADER, [list(out.values()) for out in drawn])
    return json_response(name, {"of": choice.of, "benchmark": choice.benchmark, "rows": drawn})


def _share_out(row: ShareRow, point: SharePoint, of: str) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "kind": point.kind,
        "slug": row.accelerator.slug,
        "name": row.accelerator.name,
        "vendor": row.accelerator.vendor.slug,
        "of": of,
        "share_percent": point.percent,
        "rate": point.rate,
        "peak": point.peak.amount,
        "base_unit": point.peak.si,
        "peak_field": point.peak.field,
        "condition": point.peak.condition,
        "basis": point.peak.basis,
        "setting": point.setting,
        "made": point.made,
        "source_title": point.source_title,
        "source_url": point.source_url,
        "peak_source_title": point.peak.source_title,
        "peak_source_url": point.peak.source_url,
        "result": point.url,
    }


SCALING_HEADER = (
    "kind", "curve", "setting", "slug", "name", "vendor", "devices", "x", "x_unit", "y", "y_unit", "amount",
    "base_unit", "made", "source_title", "source_url", "result",
)  # fmt: skip


def scaling_file(scaling: ScalingPlot, ending: str) -> HttpResponse:
    """Every point of every curve that is drawn; `x` and `y` as on the axes."""
    rows = [_curve_point_out(scaling, item, point) for item in scaling.curves for point in item.curve.points]
    name = f"scaling {scaling.kind.key}"
    if ending == "csv":
        return csv_response(name, SCALING_HEADER, [list(row.values()) for row in rows])
    setting = scaling.setting.value if scaling.setting else None
    return json_response(name, {"curve": scaling.kind.key, "setting": setting, "points": rows})


def _curve_point_out(scaling: ScalingPlot, item: DrawnCurve, point: CurvePoint) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "curve": scaling.kind.key,
        "setting": item.curve.setting,
        "slug": item.accelerator.slug,
        "name": item.accelerator.name,
        "vendor": item.accelerator.vendor.slug,
        "devices": item.curve.count,
        "x": scaling.position(point),
        "x_unit": scaling.kind.x_unit,
        "y": scaling.value(point),
        "y_unit": scaling.unit,
        "amount": point.amount,
        "base_unit": item.curve.si,
        "made": item.curve.made,
        "source_title": item.curve.source_title,
        "source_url": item.curve.source_url,
        "result": point.url,
    }
