"""Parts of a page that depend on nothing but plain values: rendered once for each, then taken from memory.

A template of two hundred table cells costs more than all queries of its page. The frozen rows it is made of are the
key, so nothing has to be invalidated: other values are another key.
"""

from collections.abc import Hashable
from functools import lru_cache

from django.template.loader import get_template
from django.utils.safestring import SafeString
from django.utils.translation import get_language

KEPT = 64  # fragments of at most some 100 KB each: a few MB for each web process


def fragment(template_name: str, **values: Hashable) -> SafeString:
    """The template rendered with these values and nothing else: no request, no user, no token may be in it.

    Raises TypeError for a value that is not hashable: lists and querysets may change behind the key's back.
    """
    return _rendered(template_name, get_language() or "", tuple(sorted(values.items())))


@lru_cache(maxsize=KEPT)
def _rendered(template_name: str, _language: str, values: tuple[tuple[str, Hashable], ...]) -> SafeString:
    # The template escapes each value; this only keeps what it returned.
    return SafeString(get_template(template_name).render(dict(values)))
