"""`/benchmarks/`: every benchmark that others ran and published."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from stackviz.cited.cases import edition_of_cases
from stackviz.cited.queries import cited_counts
from stackviz.results.groups import benchmark_groups
from stackviz.units import format_number
from stackviz.web.address import AddressReader
from stackviz.web.parts import cached_html, render_part

__all__ = ["index_page", "urlpatterns"]

CACHE_S = 600  # the key moves with cited results and sheets


@require_safe
def index_page(request: HttpRequest) -> HttpResponse:
    """All benchmarks with public results, in groups."""
    notes = AddressReader(request.GET).notes(())
    return render(request, "results/index.html", {"notes": notes, "body": _body()})


def _body() -> SafeString:
    def draw() -> SafeString:
        counts = cited_counts()
        return render_part(
            "results/_index.jinja",
            groups=benchmark_groups(),
            results=format_number(counts.results),
            accelerators=format_number(counts.accelerators),
            sources=format_number(counts.sources),
            left_out=format_number(counts.unmatched + counts.doubtful + counts.withdrawn),
        )

    return cached_html(("benchmarks", edition_of_cases()), draw, CACHE_S)


urlpatterns = [path("benchmarks/", index_page, name="index")]
