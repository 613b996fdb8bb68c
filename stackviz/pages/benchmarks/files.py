"""A ranking as CSV and JSON: every dot of all its pages, cited and measured, with its source."""

from typing import Any

from django.http import HttpResponse

from stackviz.base.units import unit
from stackviz.pages.benchmarks.measured_rows import measured_rows
from stackviz.pages.benchmarks.priced import priced_out, priced_result
from stackviz.pages.benchmarks.ranking import CitedLadder, reached_bound
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.words import result_address
from stackviz.web.download import csv_response, json_response

HEADER = (
    "rank", "is_best", "slug", "name", "vendor", "reported_name", "devices", "value", "unit", "amount",
    "amount_per_device", "base_unit", "bound", "share_of_bound", "bound_by", "params", "software", "date",
    "source_title", "source_url", "note", "result", "kind", "price_per_result",
)  # fmt: skip


def ladder_file(ladder: CitedLadder, ending: str, measured: str = "") -> HttpResponse:
    """All results of the ranking, best first within each accelerator; then what machines measured beside it.

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
        return csv_response(name, HEADER, [cells(row) for row in (*rows, *runs)])
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


def cells(row: dict[str, Any]) -> list[object]:
    pairs = {name: "; ".join(f"{key}={value}" for key, value in row[name].items()) for name in ("params", "software")}
    pairs["price_per_result"] = "; ".join(
        f"{item['figure']:.6g} {item['currency']} ({item['kind']}, {item['seller']}, {item['day']})"
        for item in row.get("price_per_result", ())
    )
    return [pairs.get(name, row.get(name)) for name in HEADER]
