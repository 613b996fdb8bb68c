"""The receipt page of an upload, which fills in while a worker reads the report."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.intake.ingest.receipt import receipt_of
from stackviz.intake.ingest.withdrawal import report_to_decide, rights_about
from stackviz.web.htmx import vary_on_htmx, wants_partial


@require_safe
@never_cache
@vary_on_htmx
def receipt(request: HttpRequest, report_id: UUID) -> HttpResponse:
    report = report_to_decide(request, report_id)
    if report is None:
        raise Http404
    template = "ingest/_receipt.html" if wants_partial(request) else "ingest/receipt.html"
    context = {
        "receipt": receipt_of(report),
        "address": request.get_full_path(),
        "report": report,
        "rights": rights_about(request.user, report),
    }
    return render(request, template, context)
