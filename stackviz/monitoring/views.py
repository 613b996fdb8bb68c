"""`/healthz`: the process is alive. `/readyz`: the site can do its work. `/metrics`: figures for Prometheus."""

from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.monitoring.readiness import Readiness, readiness
from stackviz.monitoring.who_may_look import may_look

REFUSED = "send MONITORING_TOKEN as `Authorization: Bearer`, or ask from MONITORING_NETWORKS\n"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """200 while this process answers at all; asks nothing else."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 with what fails. Strangers see only which check holds; reasons are for `may_look`."""
    found = readiness()
    body = {"status": "ok" if found.is_ready else "failing", "checks": _checks(found, with_reasons=may_look(request))}
    return JsonResponse(body, status=HTTPStatus.OK if found.is_ready else HTTPStatus.SERVICE_UNAVAILABLE)


def _checks(found: Readiness, *, with_reasons: bool) -> dict[str, str]:
    return {check.name: "ok" if check.holds else check.reason if with_reasons else "failing" for check in found.checks}


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text; 404 without METRICS."""
    if not settings.METRICS:
        raise Http404
    if not may_look(request):
        return HttpResponse(REFUSED, "text/plain; charset=utf-8", HTTPStatus.FORBIDDEN)
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    from stackviz.monitoring.figures import registry

    return HttpResponse(generate_latest(registry()), CONTENT_TYPE_LATEST)
