"""The address decides in which language a page is; a visitor's own language decides the address, at first.

Stands outside of PrivateAnswers, which must not take what is said here of cookies for a page of somebody who logged in.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language_from_request, override

from stackviz.web.languages import address_in, is_page, language_of, prefixes

__all__ = ["LanguageByAddress", "remember_language"]

ADMIN = "/admin/"  # has one address for all languages, and follows the visitor's
REMEMBERED_S = int(timedelta(days=365).total_seconds())


class LanguageByAddress:
    """Middleware. Activates the language of the address, and sends a visitor who prefers another one there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_of_admin = request.path_info.startswith(ADMIN)
        language = get_language_from_request(request) if is_of_admin else language_of(request.path_info)
        request.LANGUAGE_CODE = language  # as Django's own middleware does
        with override(language):  # and not for ever: the next request of this thread may be an agent's
            response = self.get_response(request)
        if is_of_admin or _may_lead_elsewhere(request):
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", language)
        return response

    def process_view(
        self,
        request: HttpRequest,
        _view: Callable[..., HttpResponseBase],
        _arguments: Sequence[Any],
        _named: Mapping[str, Any],
    ) -> HttpResponse | None:
        """A redirect to the visitor's language, from an English page to be read; None to show the page."""
        if not (_may_lead_elsewhere(request) and _is_to_be_read(request)):
            return None
        language = get_language_from_request(request).lower()  # the cookie's as it is spelled, else the browser's
        if language not in prefixes():
            return None
        response = HttpResponseRedirect(address_in(language, request.get_full_path()))
        response.headers["Cache-Control"] = "private, no-store"
        if request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME) not in dict(settings.LANGUAGES):
            remember_language(response, language)
        return response


def _may_lead_elsewhere(request: HttpRequest) -> bool:
    """Whether this is the English address of what other languages have too."""
    return request.LANGUAGE_CODE == settings.LANGUAGE_CODE and is_page(request.resolver_match)


def _is_to_be_read(request: HttpRequest) -> bool:
    """Whether a browser opens a page: not a part of one, a file or what a program fetches."""
    headers = request.headers
    is_opened = request.method in ("GET", "HEAD") and "text/html" in headers.get("Accept", "")
    return is_opened and "HX-Request" not in headers and "format" not in request.GET


def remember_language(response: HttpResponse, language: str) -> None:
    """Let the visitor's browser send this choice from now on."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=REMEMBERED_S,
        path=settings.LANGUAGE_COOKIE_PATH,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
