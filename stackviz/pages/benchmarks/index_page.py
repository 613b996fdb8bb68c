"""`/benchmarks/`: every benchmark that machines measure or others published, or what these did on one accelerator."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number
from stackviz.pages.benchmarks.groups import benchmark_groups
from stackviz.pages.benchmarks.measured_lines import measured_lines
from stackviz.pages.benchmarks.of_accelerator import headline_results
from stackviz.pages.benchmarks.side_by_side_page import side_by_side_page
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.queries import cited_counts
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.series.public_runs import measured_edition
from stackviz.report.measuring import RUNNABLE
from stackviz.web.address import AddressReader
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_html, render_part
from stackviz.web.reverse import address_by_name

__all__ = ["index_page", "urlpatterns"]

CACHE_S = 600  # the key moves with cited results and sheets


@require_safe
@vary_on_htmx
def index_page(request: HttpRequest) -> HttpResponse:
    """All benchmarks with public results, in groups; with `?accelerator=` those of one, for htmx its table alone.

    With several accelerators: `side_by_side_page`.
    """
    if len(request.GET.getlist("accelerator")) > 1:
        return side_by_side_page(request)
    reader = AddressReader(request.GET)
    by_slug = public_catalogue().by_slug if "accelerator" in request.GET else {}
    accelerator = by_slug.get(reader.choice("accelerator", by_slug, _("accelerator")))
    body = _body() if accelerator is None else _of_accelerator(accelerator)
    if accelerator is not None and wants_partial(request):
        return HttpResponse(body)
    context = {"notes": reader.notes({"accelerator"}), "accelerator": accelerator, "body": body}
    return render(request, "benchmarks/index.html", context)


def _body() -> SafeString:
    def draw() -> SafeString:
        counts, titles = cited_counts(), benchmark_titles()
        return render_part(
            "benchmarks/_index.jinja",
            groups=benchmark_groups(),
            results=format_number(counts.results),
            accelerators=format_number(counts.accelerators),
            sources=format_number(counts.sources),
            left_out=format_number(counts.unmatched + counts.doubtful + counts.withdrawn),
            measured=measured_lines(),
            definitions=[
                (titles[key, known.version], address_by_name("benchmarks:definition", key))
                for key, known in RUNNABLE.items()
            ],
        )

    return cached_html(("benchmarks", edition_of_cases(), *measured_edition()), draw, CACHE_S)


def _of_accelerator(accelerator: Accelerator) -> SafeString:
    def draw() -> SafeString:
        lines = headline_results(accelerator)
        return render_part("benchmarks/_accelerator.jinja", lines=lines, name=accelerator.name, slug=accelerator.slug)

    return cached_html(("benchmarks of", accelerator.slug, edition_of_cases()), draw, CACHE_S)


urlpatterns = [path("benchmarks/", index_page, name="index")]
