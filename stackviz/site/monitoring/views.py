"""`/healthz`: the process is alive. `/readyz`: the site can do its work. `/metrics`: figures for Prometheus."""

import ipaddress
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.records.labs.keys import KEY_GUESSES
from stackviz.site.monitoring.readiness import Readiness, readiness
from stackviz.web.http.rate_limit import RateLimited, too_many

REFUSED = "send MONITORING_TOKEN as `Authorization: Bearer`, or ask from MONITORING_NETWORKS\n"
# A proxy on this machine asks from a loopback address for the whole world.
_OF_PROXIES = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")


def may_look(request: HttpRequest) -> bool:
    """Whether the sender knows MONITORING_TOKEN, or asks from MONITORING_NETWORKS past no proxy.

    Wrong tokens are counted like wrong keys. Raises RateLimited.
    """
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if settings.MONITORING_TOKEN and constant_time_compare(given, settings.MONITORING_TOKEN):
        return True
    if not any(name in request.headers for name in _OF_PROXIES) and _is_near(request.META.get("REMOTE_ADDR", "")):
        return True
    if given:
        KEY_GUESSES.count(request)
    return False


def _is_near(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # a socket file
        return False
    return any(ip in network for network in settings.MONITORING_NETWORKS)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """200 while this process answers at all; asks nothing else."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 with what fails. Strangers see only which check holds; reasons are for `may_look`."""
    try:
        with_reasons = may_look(request)
    except RateLimited as limited:
        return too_many(limited)
    state = readiness()
    body = {"status": "ok" if state.is_ready else "failing", "checks": _checks(state, with_reasons=with_reasons)}
    return JsonResponse(body, status=HTTPStatus.OK if state.is_ready else HTTPStatus.SERVICE_UNAVAILABLE)


def _checks(state: Readiness, *, with_reasons: bool) -> dict[str, str]:
    return {check.name: "ok" if check.holds else check.reason if with_reasons else "failing" for check in state.checks}


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text; 404 without METRICS."""
    if not settings.METRICS:
        raise Http404
    try:
        if not may_look(request):
            return HttpResponse(REFUSED, "text/plain; charset=utf-8", HTTPStatus.FORBIDDEN)
    except RateLimited as limited:
        return too_many(limited)
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    from stackviz.site.monitoring.figures import all_figures

    return HttpResponse(generate_latest(all_figures()), CONTENT_TYPE_LATEST)
