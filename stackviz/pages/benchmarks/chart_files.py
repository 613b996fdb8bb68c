"""The drawings as CSV and JSON: exactly the lines and points of the figure, with their sources."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse

from stackviz.pages.benchmarks.curves import CurvePoint
from stackviz.pages.benchmarks.roofline import TERA, Roofline, RoofPoint
from stackviz.pages.benchmarks.roofs import RoofRow
from stackviz.pages.benchmarks.scaling import DrawnCurve, ScalingPlot
from stackviz.pages.benchmarks.selection import ShareChoice
from stackviz.pages.benchmarks.share import SharePoint, ShareRow
from stackviz.web.download import Columns, json_response, of_objects, table_file

_ROOFLINE = of_objects(
    "kind", "slug", "name", "dtype", "operator", "setting", "intensity_flop_per_byte", "drawn_tflop_per_s", "rate",
    "rate_unit", "share_of_roof", "bandwidth_b_per_s", "peak_flop_per_s", "ridge_flop_per_byte", "formula", "made",
    "condition", "basis", "source_title", "source_url", "result", "bandwidth_source_title", "bandwidth_source_url",
)  # fmt: skip


def roofline_file(roofline: Roofline, ending: str) -> HttpResponse:
    """Return roofs, then points; `drawn` are the coordinates of the drawing. A roof's are those of its ridge point.

    A roof that is a peak alone has its height, one that is a bandwidth alone neither.
    """
    rows: list[Mapping[str, object]] = [*map(_roof_out, roofline.rows), *map(_point_out, roofline.points)]
    if ending == "csv":
        return table_file("roofline", _ROOFLINE, rows)
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


def share_file(rows: Sequence[ShareRow], choice: ShareChoice, ending: str) -> HttpResponse:
    """Return every dot of all pages, the highest share first."""
    columns: Columns[tuple[ShareRow, SharePoint]] = {
        "rank": lambda row: row[0].rank,
        "kind": lambda row: row[1].kind,
        "slug": lambda row: row[0].accelerator.slug,
        "name": lambda row: row[0].accelerator.name,
        "vendor": lambda row: row[0].accelerator.vendor.slug,
        "of": lambda _: choice.of,
        "share_percent": lambda row: row[1].percent,
        "rate": lambda row: row[1].rate,
        "peak": lambda row: row[1].peak.amount,
        "base_unit": lambda row: row[1].peak.si,
        "peak_field": lambda row: row[1].peak.field,
        "condition": lambda row: row[1].peak.condition,
        "basis": lambda row: row[1].peak.basis,
        "setting": lambda row: row[1].setting,
        "made": lambda row: row[1].made,
        "source_title": lambda row: row[1].source_title,
        "source_url": lambda row: row[1].source_url,
        "peak_source_title": lambda row: row[1].peak.source_title,
        "peak_source_url": lambda row: row[1].peak.source_url,
        "result": lambda row: row[1].url,
    }
    return table_file(
        f"share of peak {choice.of}",
        columns,
        [(row, point) for row in rows for point in row.points],
        ending,
        document=lambda drawn: {"of": choice.of, "benchmark": choice.benchmark, "rows": drawn},
    )


def scaling_file(scaling: ScalingPlot, ending: str) -> HttpResponse:
    """Return every point of every curve that is drawn; `x` and `y` as on the axes."""
    columns: Columns[tuple[DrawnCurve, CurvePoint]] = {
        "kind": lambda row: row[0].kind,
        "curve": lambda _: scaling.kind.key,
        "setting": lambda row: row[0].curve.setting,
        "slug": lambda row: row[0].accelerator.slug,
        "name": lambda row: row[0].accelerator.name,
        "vendor": lambda row: row[0].accelerator.vendor.slug,
        "devices": lambda row: row[0].curve.count,
        "x": lambda row: scaling.position(row[1]),
        "x_unit": lambda _: scaling.kind.x_unit,
        "y": lambda row: scaling.value(row[1]),
        "y_unit": lambda _: scaling.unit,
        "amount": lambda row: row[1].amount,
        "base_unit": lambda row: row[0].curve.si,
        "made": lambda row: row[0].curve.made,
        "source_title": lambda row: row[0].curve.source_title,
        "source_url": lambda row: row[0].curve.source_url,
        "result": lambda row: row[1].url,
    }
    setting = scaling.setting.value if scaling.setting else None
    return table_file(
        f"scaling {scaling.kind.key}",
        columns,
        [(drawn, point) for drawn in scaling.curves for point in drawn.curve.points],
        ending,
        document=lambda points: {"curve": scaling.kind.key, "setting": setting, "points": points},
    )
