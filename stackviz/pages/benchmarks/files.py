"""A ranking as CSV and JSON: every result of all its pages, cited and measured, with its source."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse

from stackviz.base.units import unit
from stackviz.pages.benchmarks.measured_ranking import run_address
from stackviz.pages.benchmarks.priced import priced_out, priced_result
from stackviz.pages.benchmarks.ranking import CitedLadder, reached_bound
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.words import result_address
from stackviz.records.series.measured_settings import (
    MeasuredAccelerator,
    MeasuredSetting,
    measured_settings,
    setting_shown,
)
from stackviz.report.measuring import BENCHMARKS
from stackviz.web.download import json_response, of_objects, table_file

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
    "source_title", "source_url", "note", "result", "kind", "price_per_result",
) | {"params": _pairs("params"), "software": _pairs("software"), "price_per_result": _prices}  # fmt: skip
_MEASURED_COLUMNS = _COLUMNS | of_objects("low", "high", "best_by", "runs", "machines", "lowest", "median", "highest")


def ladder_file(ladder: CitedLadder, ending: str, measured: str = "") -> HttpResponse:
    """Return all results of the ranking, best first within each accelerator; then what machines measured.

    `measured`: key of their setting, "" for the one the page shows.
    """
    rows = [
        {"rank": row.rank, "is_best": number == 0, **result_out(result)}
        for row in ladder.rows
        for number, result in enumerate(row.results)
    ]
    name = f"benchmark {ladder.benchmark.key}"
    case = ladder.case
    runs = measured_rows(ladder.benchmark.key, measured, case.params_key if case else "")
    if ending == "csv":
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
    """One result; `accelerator` and `source` must be loaded."""
    accelerator = result.accelerator
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
