"""Cached parts of a page, in two ways.

`fragment` is for parts made of plain values: the frozen rows are the cache key, so nothing has to be invalidated, but
the rows must be read. `cached_html` saves reading them too: the caller passes a key that changes with everything the
part shows. Neither may contain a request, a user or a token.
"""

import hashlib
from collections.abc import Callable, Hashable
from functools import lru_cache

from django.conf import settings
from django.core.cache import cache
from django.template.loader import get_template
from django.utils.safestring import SafeString
from django.utils.translation import get_language

FRAGMENTS = 64  # of at most some 100 KB each: a few MB for each web process


def fragment(template_name: str, **values: Hashable) -> SafeString:
    """The template rendered with these values and nothing else.

    Raises TypeError for a value that is not hashable: lists and querysets may change behind the key's back.
    """
    return _rendered(template_name, get_language() or "", tuple(sorted(values.items())))


@lru_cache(maxsize=FRAGMENTS)
def _rendered(template_name: str, _language: str, values: tuple[tuple[str, Hashable], ...]) -> SafeString:
    # The template escapes each value.
    return SafeString(get_template(template_name).render(dict(values)))


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
