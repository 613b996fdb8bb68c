"""Cached parts of a page. None may contain a request, a user or a token."""

import hashlib
from collections.abc import Callable

from django.conf import settings
from django.core.cache import cache
from django.utils.safestring import SafeString
from django.utils.translation import get_language


def cached_html(state: tuple[object, ...], make: Callable[[], str], seconds: int) -> SafeString:
    """The HTML that `make` renders, from the cache where it has been rendered for this state, language and version.

    `state` must change with whatever the part shows; a change that it misses shows after `seconds` at the latest.
    """
    if settings.DEBUG:  # templates are being worked on
        return SafeString(make())
    named = repr((state, get_language(), settings.VERSION))
    key = "kept-" + hashlib.blake2b(named.encode(), digest_size=16).hexdigest()
    html: str | None = cache.get(key)
    if html is None:
        html = make()
        cache.set(key, html, seconds)
    return SafeString(html)  # a template escaped every value in it
