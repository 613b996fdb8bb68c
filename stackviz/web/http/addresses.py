"""Addresses of pages: declared next to their views, and by name from memory.

Django takes as long to find an address by its name as to read a row.
"""

from functools import lru_cache
from types import ModuleType
from uuid import UUID

from django.urls import URLPattern, get_script_prefix, reverse
from django.utils.translation import get_language

from stackviz.base.discovery import modules_of

__all__ = ["address_by_id", "address_by_name", "declared_in"]

_NIL = str(UUID(int=0))


def declared_in(room: ModuleType) -> list[URLPattern]:
    """Return what the modules of a room name `urlpatterns`, without its own urls.py."""
    modules = [module for module in modules_of(room) if module.__name__ != f"{room.__name__}.urls"]
    return [pattern for module in modules for pattern in getattr(module, "urlpatterns", [])]


def address_by_name(name: str, *args: str) -> str:
    """`reverse(name, args=args)`, from memory for what was asked before. For names that many pages link to.

    In the language that is active, as `reverse` itself. Raises NoReverseMatch.
    """
    return _reversed(get_language(), get_script_prefix(), name, args)


def address_by_id(name: str, key: UUID) -> str:
    """`reverse(name, args=[key])` for the pages of reports, of which there are too many to remember each."""
    return address_by_name(name, _NIL).replace(_NIL, str(key))


@lru_cache(maxsize=8192)
def _reversed(_language: str | None, _prefix: str, name: str, args: tuple[str, ...]) -> str:
    return reverse(name, args=args)
