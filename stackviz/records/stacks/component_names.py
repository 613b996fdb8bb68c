"""The names of all described components, in memory: read once for each edition, language and process."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from django.utils.translation import get_language

from stackviz.records.stacks.models import Component, Edition
from stackviz.web.curated_text import curated_words


def names_of_components() -> Mapping[str, str]:
    """Slug -> name in the language of the page. No query but that for the edition; one more after a change."""
    return _names(Edition.current(), get_language() or "")


@lru_cache(maxsize=4)
def _names(_edition: str, _language: str) -> Mapping[str, str]:
    names = Component.objects.order_by().values_list("slug", "name")
    return MappingProxyType({slug: curated_words(name) for slug, name in names})
