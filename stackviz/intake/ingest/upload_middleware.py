"""Uploads take the short way: an agent has no use for sessions, languages, policies, messages or history.

The other middlewares together cost about as much as storing the report does (`make bench`).
"""

from collections.abc import Callable
from typing import cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import resolve, reverse


class UploadShortcut:
    """Middleware, right behind Django's SecurityMiddleware: https and its headers are for uploads too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.path = reverse("api:reports")
        self.match = resolve(self.path)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "POST" or request.path_info != self.path:
            return self.get_response(request)
        # As CommonMiddleware does: a host name that is not ours is refused first, the answer says how long it is.
        request.get_host()
        request.resolver_match = self.match
        answer = cast("HttpResponse", self.match.func(request))
        answer.headers["Content-Length"] = str(len(answer.content))
        return answer
