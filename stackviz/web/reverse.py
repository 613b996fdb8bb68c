"""Addresses of pages by name, looked up once: Django takes as long to find one as to read a row."""

from functools import lru_cache
from uuid import UUID

from django.urls import get_script_prefix, reverse
from django.utils.translation import get_language

__all__ = ["address_by_id", "address_by_name"]

_NIL = str(UUID(int=0))


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
