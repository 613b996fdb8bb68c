"""What a page shows to somebody who has logged in stays in no cache: it may be of a private lab."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import has_vary_header


class PrivateAnswers:
    """Middleware. Stands outside of SessionMiddleware, which says whether an answer depends on the session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES and has_vary_header(response, "Cookie"):
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
