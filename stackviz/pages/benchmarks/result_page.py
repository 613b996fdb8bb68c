"""`/benchmarks/<benchmark>/<key>/`: one cited result at an address that stays."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from stackviz.base.units import quantity_label
from stackviz.pages.benchmarks.priced import PricedRate, is_priced, priced_result
from stackviz.pages.benchmarks.ranking import ReachedBound, reached_bound
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS, parameter_titles
from stackviz.records.cited.words import benchmark_address, setting_text, share_text
from stackviz.web.address import row_key

__all__ = ["result_page", "urlpatterns"]

_BY_HAND = "row-"  # rows that no curated file holds are named by number


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSheet:
    """One result as its page shows it.

    `printed`: as the source prints it; `amount`: the same, scaled to read well; `base`: unscaled, "" where that reads
    the same. `accelerator`: None without a public sheet. `is_priced`: whether a price can be divided by it; `priced`:
    against each price of its month.
    """

    result: CitedResult
    accelerator: Accelerator | None
    title: str
    measures: str
    url: str
    ladder_url: str
    setting: str
    params: tuple[tuple[str, str], ...]
    software: tuple[tuple[str, str], ...]
    printed: str
    amount: str
    base: str
    per_device: str
    bound: ReachedBound | None
    share: str
    is_priced: bool
    priced: tuple[PricedRate, ...]


@require_safe
def result_page(request: HttpRequest, benchmark: str, key: str) -> HttpResponse:
    """One result of any state: who, when, with what, and how it stands against the published peak."""
    rows = CitedResult.objects.select_related("accelerator__vendor", "source")
    if key.startswith(_BY_HAND):
        row = rows.filter(pk=row_key(key.removeprefix(_BY_HAND)), benchmark=benchmark, data_key=None).first()
    else:
        row = rows.filter(data_key=f"{benchmark}/{key}").first()
    if row is None or row.benchmark not in CITED_BENCHMARKS:
        raise Http404
    return render(request, "benchmarks/result.html", {"sheet": result_sheet(row)})


def result_sheet(result: CitedResult) -> ResultSheet:
    benchmark = CITED_BENCHMARKS[result.benchmark]
    accelerator = result.accelerator if result.accelerator is not None and result.accelerator.is_public else None
    bound = reached_bound(result) if accelerator else None
    url = benchmark_address(benchmark.key)
    is_shared_out = benchmark.adds_up and result.count > 1
    amount, base = quantity_label(result.amount, result.si), f"{result.amount:g} {result.si}"
    return ResultSheet(
        result=result,
        accelerator=accelerator,
        title=str(benchmark.title),
        measures=str(benchmark.measures),
        url=url,
        ladder_url=f"{url}?{urlencode({'case': result.params_key})}",
        setting=setting_text(benchmark, benchmark.compared_params(result.params)),
        params=tuple(
            (str(title), str(value)) for title, value in parameter_titles(dict(sorted(result.params.items())))
        ),
        software=tuple(sorted((str(name), str(value)) for name, value in result.software.items())),
        printed=f"{result.value} {result.unit}",
        amount=amount,
        base="" if base == amount else base,
        per_device=quantity_label(result.amount_per_device, result.si) if is_shared_out else "",
        bound=bound,
        share=share_text(bound.share) if bound else "",
        is_priced=is_priced(result.si, higher_is_better=benchmark.higher_is_better),
        priced=priced_result(result) if accelerator else (),
    )


urlpatterns = [path("benchmarks/<slug:benchmark>/<slug:key>/", result_page, name="result")]
