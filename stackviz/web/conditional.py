"""Conditional responses: 304 for a client whose copy is still current.

For answers that depend on their address and on the state of some tables only, never on who asks.
"""

import hashlib
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.translation import get_language

View = Callable[..., HttpResponse]


def unless_changed(state: Callable[[], str]) -> Callable[[View], View]:
    """Return 304 without calling the view if the request has the tag of the present `state` and this address.

    `state` costs its own queries and no others. Responses may be stored by any cache and must be revalidated each time.
    """

    def tagged(view: View) -> View:
        @wraps(view)
        def answered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            tag = etag_of(request, state())
            unchanged = get_conditional_response(request, etag=tag)
            response = view(request, *args, **kwargs) if unchanged is None else unchanged
            if response.status_code in (200, 304):
                response.headers["ETag"] = tag
                response.headers["Cache-Control"] = "public, no-cache"
            return response

        return answered

    return tagged


def etag_of(request: HttpRequest, state: str) -> str:
    """A weak tag: what is compressed on the way is the same answer. Moves with state, address, language and version."""
    named = repr((state, request.build_absolute_uri(), get_language(), settings.VERSION))
    return f'W/"{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"'
