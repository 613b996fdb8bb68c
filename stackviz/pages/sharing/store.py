"""Drawn pictures in a folder that all processes share, by the state of what they show. At most so many: see CACHES.

What embeds say is cached as the pages are. What is in neither is worked out, and counted for the client.
"""

import hashlib
import logging
from collections.abc import Callable

from django.conf import settings
from django.core.cache import cache, caches
from django.http import HttpRequest
from django.utils.translation import override

from stackviz.pages.sharing.cards import Picture
from stackviz.pages.sharing.drawing import draw_png
from stackviz.pages.sharing.subjects import Shared
from stackviz.web.at_once import COSTLY
from stackviz.web.rate_limit import RateLimit

__all__ = ["PICTURES", "cached_picture", "drawn_png", "stored_png", "tag_of"]

log = logging.getLogger(__name__)
PICTURES = RateLimit("pictures", "PICTURES_PER_MINUTE", 60, "too many pictures were requested from this address")
CACHE_S = 7 * 24 * 3600
EMBEDDED_S = 600


def tag_of(state: tuple[object, ...]) -> str:
    """A name of the picture for this state and version of the site: the same bytes have the same name."""
    named = repr((state, settings.VERSION))
    return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


def stored_png(request: HttpRequest, tag: str, make: Callable[[], Picture]) -> bytes:
    """The picture as PNG. One that is stored costs a file read; drawing counts for the client. Raises RateLimited."""
    png: bytes | None = _stored(tag)
    if png is None:
        png = drawn_png(request, make)
        _store(tag, png)
    return png


def drawn_png(request: HttpRequest, make: Callable[[], Picture]) -> bytes:
    """The picture as PNG, stored nowhere. Raises RateLimited, Busy."""
    PICTURES.count(request)
    with COSTLY.slot(), override("en"):
        return draw_png(make())


def cached_picture(request: HttpRequest, shared: Shared) -> Picture:
    """The picture as data; what is not cached counts for the client. Raises RateLimited."""
    key = "embedded-" + tag_of(shared.state)
    picture: Picture | None = cache.get(key)
    if picture is None:
        PICTURES.count(request)
        with override("en"):
            picture = shared.make()
        cache.set(key, picture, EMBEDDED_S)
    return picture


def _stored(tag: str) -> bytes | None:
    try:
        png: bytes | None = caches["pictures"].get(tag)
    except OSError as error:
        log.warning("stored picture unreadable (%s); it is drawn again", error)
        return None
    return png


def _store(tag: str, png: bytes) -> None:
    try:
        caches["pictures"].set(tag, png, CACHE_S)
    except OSError as error:
        log.warning("picture cannot be stored (%s); it is drawn for each request", error)
