"""Conditional responses: 304 for a client whose copy is still current, the cached answer for others.

For answers that depend on their address and on the state of some tables only, never on who asks.
"""

import hashlib
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, has_vary_header
from django.utils.translation import get_language

CACHE_S = 600  # the key moves with the state
View = Callable[..., HttpResponse]


def unless_changed(state: Callable[[], str]) -> Callable[[View], View]:
    """Return 304 without calling the view if the request has the tag of the present `state` and this address.

    Who has another tag gets the answer that anybody got for this one. `state` costs its own queries and no others.
    Responses may be stored by any cache and must be revalidated each time.
    """

    def tagged(view: View) -> View:
        @wraps(view)
        def answered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            tag = etag_of(request, state())
            response = get_conditional_response(request, etag=tag)
            if response is None:
                response = _cached_answer(tag, lambda: view(request, *args, **kwargs))
            if response.status_code in (200, 304):
                response.headers["ETag"] = tag
                response.headers["Cache-Control"] = "public, no-cache"
            return response

        return answered

    return tagged


def _cached_answer(tag: str, answer: Callable[[], HttpResponse]) -> HttpResponse:
    """The answer with this tag, from the cache where it was given before. Refusals are not cached."""
    if settings.DEBUG:  # the code is being worked on
        return answer()
    key = f"answer-{tag[3:-1]}"
    cached: tuple[bytes, str] | None = cache.get(key)
    if cached is not None:
        return HttpResponse(cached[0], content_type=cached[1])
    response = answer()
    if response.status_code == 200:
        cache.set(key, (response.content, response.headers["Content-Type"]), CACHE_S)
    return response


def etag_of(request: HttpRequest, state: str) -> str:
    """A weak tag: what is compressed on the way is the same answer. Moves with state, address, language and version."""
    named = repr((state, request.build_absolute_uri(), get_language(), settings.VERSION))
    return f'W/"{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"'


# --- pages for somebody who has logged in stay in no cache: they may be of a private lab ---


class PrivateAnswers:
    """Middleware, outside of SessionMiddleware, which says whether an answer depends on the session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES and has_vary_header(response, "Cookie"):
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
