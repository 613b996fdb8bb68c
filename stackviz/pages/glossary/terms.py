"""What an entry of the glossary is."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise


@dataclass(frozen=True, slots=True)
class Term:
    """One entry. `anchor` never changes: links from outside point to it."""

    anchor: str
    title: str | Promise
    text: str | Promise
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """Entries that are read together."""

    anchor: str
    title: str | Promise
    terms: Sequence[Term]
