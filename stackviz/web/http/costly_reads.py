"""Limits for reading what costs work: files, pages of the API, pages that are made for their parameters.

A client may have so many in a minute, and a process makes only so many files and long pages at once (`at_once.py`):
despite any flood of them threads are left for everybody's pages. A page without parameters is cached, and not counted.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string

from stackviz.web.http.at_once import COSTLY
from stackviz.web.http.rate_limit import RateLimit, RateLimited, ask_to_wait, too_many

READS = RateLimit("reads", "READS_PER_MINUTE", 60)
FILE_COST = 10
_ROWS = 100  # of a page of the API that cost as much as a page
_LONG = 4  # from this cost on only so many at once
_MOST_DIGITS = 10  # of a plain number
_API = "/api/v1/"
_SITEMAPS = "/sitemap-"
# Of agents, each of a few rows: many machines may share an address. And of staff, who are logged in.
_UNCOUNTED = ("/api/v1/reports/", "/api/v1/key/", "/admin/")


class CostlyReads:
    """Middleware, within OpenReading and LanguageByAddress: scripts of other sites may read the refusal."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        cost = cost_of(request)
        if not cost:
            return self.get_response(request)
        try:
            READS.count(request, cost)
            if cost < _LONG:
                return self.get_response(request)
            with COSTLY.slot():
                return self.get_response(request)
        except RateLimited as limited:
            return _refused(request, limited)


def cost_of(request: HttpRequest) -> int:
    """As how many of READS_PER_MINUTE a request counts; 0 for what is no read, or costs little."""
    path = request.path_info
    if request.method not in ("GET", "HEAD") or path.startswith(_UNCOUNTED):
        return 0
    if request.GET.get("format") or path.startswith(_SITEMAPS):
        return FILE_COST
    if path.startswith(_API):
        limit = request.GET.get("limit") or "0"
        is_plain = limit.isascii() and limit.isdecimal() and len(limit) < _MOST_DIGITS
        return 1 + (min(int(limit) // _ROWS, FILE_COST) if is_plain else FILE_COST)  # the API reads `+1_000.0`, too
    return 1 if request.GET else 0


def _refused(request: HttpRequest, limited: RateLimited) -> HttpResponse:
    if request.path_info.startswith(_API):
        return ask_to_wait(JsonResponse({"error": str(limited), "field": None}), limited)
    if request.GET.get("format") or "HX-Request" in request.headers:
        return too_many(limited)
    page = render_to_string("429.html", {"seconds": limited.retry_after_s})
    return ask_to_wait(HttpResponse(page, headers={"Cache-Control": "no-store"}), limited)
