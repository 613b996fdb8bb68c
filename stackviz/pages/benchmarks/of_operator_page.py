"""`/operators/<slug>/figures/`: what an operator costs, cited and measured; the operator's page fetches it."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.pages.benchmarks.of_operator import operator_groups
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.series.public_runs import measured_edition
from stackviz.records.stacks.operators import operators
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_html, render_part

__all__ = ["urlpatterns"]

CACHE_S = 600  # the key moves with cited results, sheets and what is measured


@require_safe
@vary_on_htmx
def operator_figures(request: HttpRequest, slug: str) -> HttpResponse:
    """For htmx the figures alone."""
    operator = operators().get(slug)
    if operator is None:
        raise Http404(_("There is no operator “%(slug)s”.") % {"slug": slug})
    body = _body(slug)
    if wants_partial(request):
        return HttpResponse(body)
    return render(request, "benchmarks/operator.html", {"operator": operator, "body": body})


def _body(slug: str) -> SafeString:
    def draw() -> SafeString:
        return render_part("benchmarks/_operator.jinja", groups=operator_groups(slug))

    return cached_html(("operator", slug, edition_of_cases(), *measured_edition()), draw, CACHE_S)


urlpatterns = [path("operators/<slug:slug>/figures/", operator_figures, name="operator")]
