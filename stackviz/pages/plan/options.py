"""Choices of a list. No queries."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    title: str
    is_chosen: bool


def options_of(pairs: Iterable[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    """The choices of (value, title), with one of them chosen."""
    return tuple(Option(value, title, value == chosen) for value, title in pairs)
