"""Public data may be read by the scripts of every site: CORS for GET, HEAD and OPTIONS, and nothing else.

Only the addresses in `settings.OPEN_TO_ALL_SITES`, which answer everybody alike, but for what they say of machines.
Cookies and keys are never allowed with it, so no visitor's rights are lent to another site; uploads, machines and the
admin stay closed.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

METHODS = "GET, HEAD, OPTIONS"
_PREFLIGHT_S = 86_400


def close_to_other_sites(response: HttpResponse) -> HttpResponse:
    """Mark an answer at an open address that scripts of other sites may not read; returns it."""
    response.is_closed = True  # type: ignore[attr-defined]
    return response


class OpenReading:
    """Middleware. Also answers HEAD where a view knows only GET: the same head, no body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(settings.OPEN_TO_ALL_SITES):
            return self.get_response(request)
        if request.method == "OPTIONS":
            return _opened(_preflight())
        if request.method not in ("GET", "HEAD"):
            return self.get_response(request)
        return _opened(self._head(request) if request.method == "HEAD" else self.get_response(request))

    def _head(self, request: HttpRequest) -> HttpResponseBase:
        request.method = "GET"
        response = self.get_response(request)
        request.method = "HEAD"
        if isinstance(response, HttpResponse):
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response


def _preflight() -> HttpResponse:
    response = HttpResponse(status=204)
    del response.headers["Content-Type"]  # there is nothing to have a type
    response.headers["Allow"] = METHODS
    response.headers["Access-Control-Allow-Methods"] = METHODS
    response.headers["Access-Control-Allow-Headers"] = "Accept, Accept-Language, If-None-Match"
    response.headers["Access-Control-Max-Age"] = str(_PREFLIGHT_S)
    return response


def _opened(response: HttpResponseBase) -> HttpResponseBase:
    if getattr(response, "is_closed", False):
        return response
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] = "ETag"
    return response
