"""Releases in the order of their version numbers, which the database cannot sort."""

import re
from collections.abc import Iterable

from stackviz.rules.versions import numbers
from stackviz.stacks.models import Release


def newest_first(releases: Iterable[Release]) -> list[Release]:
    """12.10 before 12.9, Apple10 before Apple9; variants of one version in their own order."""
    return sorted(sorted(releases, key=lambda row: row.variant), key=lambda row: _place(row.version), reverse=True)


def _place(version: str) -> tuple[int, ...]:
    """The numbers of a version; of a name ("Apple10") the numbers in it."""
    return numbers(version) or tuple(int(part) for part in re.findall(r"\d{1,9}", version))
