"""`/benchmarks/<benchmark>/<key>/`: one cited result at an address that stays."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from stackviz.base.units import quantity_label
from stackviz.pages.benchmarks.priced import is_priced, priced_result
from stackviz.pages.benchmarks.ranking import reached_bound
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS, parameter_titles
from stackviz.records.cited.words import benchmark_address, host_link, setting_text
from stackviz.web.http.address import row_key

__all__ = ["result_page", "urlpatterns"]

_BY_HAND = "row-"  # rows that no curated file holds are named by number


@require_safe
def result_page(request: HttpRequest, benchmark: str, key: str) -> HttpResponse:
    """Show one result of any state: who, when, with what, and its share of the published peak."""
    rows = CitedResult.objects.select_related("accelerator__vendor", "source", "host")
    if key.startswith(_BY_HAND):
        row = rows.filter(pk=row_key(key.removeprefix(_BY_HAND)), benchmark=benchmark, data_key=None).first()
    else:
        row = rows.filter(data_key=f"{benchmark}/{key}").first()
    if row is None or row.benchmark not in CITED_BENCHMARKS:
        raise Http404
    known = CITED_BENCHMARKS[row.benchmark]
    accelerator = row.accelerator if row.accelerator is not None and row.accelerator.is_public else None
    amount, base = quantity_label(row.amount, row.si), f"{row.amount:g} {row.si}"
    is_shared_out = known.adds_up and row.count > 1
    context = {
        "result": row,
        "benchmark": known,
        "accelerator": accelerator,
        "host": host_link(row),
        "bound": reached_bound(row) if accelerator else None,
        "address": benchmark_address(known.key),
        "setting": setting_text(known, known.compared_params(row.params)),
        "amount": amount,
        "base": "" if base == amount else base,
        "per_device": quantity_label(row.amount_per_device, row.si) if is_shared_out else "",
        "params": parameter_titles(dict(sorted(row.params.items()))),
        "software": sorted(row.software.items()),
        "is_priced": is_priced(row.si, higher_is_better=known.higher_is_better),
        "priced": priced_result(row) if accelerator else (),
    }
    return render(request, "benchmarks/result.html", context)


urlpatterns = [path("benchmarks/<slug:benchmark>/<slug:key>/", result_page, name="result")]
