"""The names of all described components, in memory: read once for each edition and process."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from stackviz.stacks.models import Component, Edition


def names_of_components() -> Mapping[str, str]:
    """Slug -> name. No query but that for the edition; one more after a change."""
    return _names(Edition.current())


@lru_cache(maxsize=2)
def _names(_edition: str) -> Mapping[str, str]:
    return MappingProxyType(dict(Component.objects.order_by().values_list("slug", "name")))
