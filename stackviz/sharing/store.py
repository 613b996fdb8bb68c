"""Drawn pictures in a folder that all processes share, by the state of what they show. At most so many: see CACHES."""

import hashlib
import logging
from collections.abc import Callable

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest
from django.utils.translation import override

from stackviz.sharing.cards import Picture
from stackviz.sharing.drawing import draw_png
from stackviz.web.rate_limit import RateLimit

__all__ = ["PICTURES", "png_of", "tag_of"]

log = logging.getLogger(__name__)
PICTURES = RateLimit("pictures", "PICTURES_PER_MINUTE", 60, "too many pictures were requested from this address")
CACHE_S = 7 * 24 * 3600


def tag_of(state: tuple[object, ...]) -> str:
    """A name of the picture for this state and version of the site: the same bytes have the same name."""
    named = repr((state, settings.VERSION))
    return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


def png_of(request: HttpRequest, tag: str, make: Callable[[], Picture]) -> bytes:
    """The picture as PNG. One that is stored costs a file read; drawing counts for the client. Raises RateLimited."""
    png: bytes | None = _stored(tag)
    if png is None:
        PICTURES.count(request)
        with override("en"):
            png = draw_png(make())
        _store(tag, png)
    return png


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
