"""Views of the operators."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.records.stacks.operators import operator_coverage
from stackviz.records.stacks.operators_page import operator_page, operator_rows


@require_safe
def operator_list(request: HttpRequest) -> HttpResponse:
    """All operators, and how many have a kernel by release of torch."""
    return render(request, "stacks/operators.html", {"rows": operator_rows(), "coverage": operator_coverage()})


@require_safe
def operator(request: HttpRequest, slug: str) -> HttpResponse:
    """One operator on CUDA and on MPS side by side, eager and compiled."""
    page = operator_page(slug)
    if page is None:
        raise Http404(_("There is no operator “%(slug)s”.") % {"slug": slug})
    return render(request, "stacks/operator.html", {"page": page})
