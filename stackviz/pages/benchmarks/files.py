"""Rankings, rooflines, shares and curves as CSV and JSON, with the source of every figure.

A ranking has every result of all its pages, cited and measured.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse

from stackviz.base.units import unit
from stackviz.pages.benchmarks.curves import CurvePoint
from stackviz.pages.benchmarks.measured_ranking import run_address
from stackviz.pages.benchmarks.priced import priced_out, priced_result
from stackviz.pages.benchmarks.ranking import CitedLadder, reached_bound
from stackviz.pages.benchmarks.roofline import TERA, Roofline, RoofPoint
from stackviz.pages.benchmarks.roofs import RoofRow
from stackviz.pages.benchmarks.scaling import DrawnCurve, ScalingPlot
from stackviz.pages.benchmarks.selection import CitedChoice, ShareChoice
from stackviz.pages.benchmarks.share import SharePoint, ShareRow
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.words import host_link, result_address
from stackviz.records.series.measured_settings import (
    MeasuredAccelerator,
    MeasuredSetting,
    measured_settings,
    setting_shown,
)
from stackviz.report.measuring import BENCHMARKS
from stackviz.web.http.download import Columns, json_response, of_objects, table_file

FILE_FORMATS = ("csv", "json")


def _pairs(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: "; ".join(f"{key}={value}" for key, value in row[name].items())


def _prices(row: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{item['figure']:.6g} {item['currency']} ({item['kind']}, {item['seller']}, {item['day']})"
        for item in row.get("price_per_result", ())
    )


_COLUMNS = of_objects(
    "rank", "is_best", "slug", "name", "vendor", "reported_name", "devices", "value", "unit", "amount",
    "amount_per_device", "base_unit", "bound", "share_of_bound", "bound_by", "params", "software", "date",
    "source_title", "source_url", "note", "result", "kind", "price_per_result", "host",
) | {"params": _pairs("params"), "software": _pairs("software"), "price_per_result": _prices}  # fmt: skip
_MEASURED_COLUMNS = _COLUMNS | of_objects("low", "high", "best_by", "runs", "machines", "lowest", "median", "highest")


def ladder_file(ladder: CitedLadder, choice: CitedChoice) -> HttpResponse:
    """Return all results that the choice shows, best first within each accelerator; then what machines measured."""
    rows = [
        {"rank": row.rank if ladder.lead.row else None, "is_best": number == 0, **result_out(result)}
        for row in ladder.rows
        if choice.shows(row.accelerator)
        for number, result in enumerate(row.results)
    ]
    name = f"benchmark {ladder.benchmark.key}"
    case = ladder.case
    runs = measured_rows(ladder.benchmark.key, choice.measured, case.params_key if case else "")
    if choice.format == "csv":
        return table_file(name, _COLUMNS, (*rows, *runs))
    return json_response(
        name,
        {
            **benchmark_out(ladder.benchmark),
            "kind": "cited",
            "case": {"key": case.params_key, "params": case.params, "base_unit": case.si} if case else None,
            "devices": ladder.devices,
            "results": rows,
            "measured": runs,
        },
    )


def benchmark_out(benchmark: CitedBenchmark) -> dict[str, Any]:
    return {
        "benchmark": benchmark.key,
        "title": str(benchmark.title),
        "measures": str(benchmark.measures),
        "higher_is_better": benchmark.higher_is_better,
        "compared": list(benchmark.compared),
        "definition": {"title": benchmark.definition.title, "url": benchmark.definition.url},
    }


def result_out(result: CitedResult) -> dict[str, Any]:
    """One result; `accelerator`, `source` and `host` must be loaded."""
    accelerator, host = result.accelerator, host_link(result)
    bound = reached_bound(result) if accelerator else None
    return {
        "slug": accelerator.slug if accelerator else None,
        "name": accelerator.name if accelerator else None,
        "vendor": accelerator.vendor.slug if accelerator else None,
        "reported_name": result.reported_name,
        "devices": result.count,
        "value": result.value,
        "unit": result.unit,
        "amount": result.amount,
        "amount_per_device": result.amount_per_device,
        "base_unit": unit(result.unit).si,
        "bound": bound.amount if bound else None,
        "share_of_bound": bound.share if bound else None,
        "bound_by": f"{bound.field}: {bound.formula}" if bound else None,
        "params": result.params,
        "software": result.software,
        "date": result.date,
        "source_title": result.source.title,
        "source_url": result.source.url,
        "note": result.note,
        "result": result_address(result),
        "kind": "cited",
        "price_per_result": priced_out(priced_result(result)) if accelerator else [],
        "host": host.url if host else None,
    }


def measured_file(key: str, wanted: str, ending: str) -> HttpResponse:
    """Return the ranking of a benchmark that only machines measure, in the setting that the page shows."""
    rows, name, known = measured_rows(key, wanted), f"benchmark {key}", BENCHMARKS[key]
    if ending == "csv":
        return table_file(name, _MEASURED_COLUMNS, rows)
    return json_response(
        name, {"benchmark": key, "title": known.title, "version": known.version, "kind": "measured", "measured": rows}
    )


def measured_rows(key: str, wanted: str = "", alike: str = "") -> list[dict[str, Any]]:
    """One row for each accelerator in the setting that the page shows, best first; [] where nothing was measured."""
    setting = setting_shown(measured_settings(key), wanted, alike)
    return [] if setting is None else [_measured_row(row, setting) for row in setting.rows]


def _measured_row(row: MeasuredAccelerator, setting: MeasuredSetting) -> dict[str, Any]:
    result, rate = row.best.result, row.best.rate
    least, middle, most = row.spread
    return {
        "rank": row.rank if setting.has_first else None,
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


# --- rooflines, shares, curves: exactly the lines and points of the figure, with their sources ---

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
