"""Releases in the order of their version numbers, which the database cannot sort."""

from collections.abc import Iterable

from stackviz.rules.versions import numbers
from stackviz.stacks.models import Release


def newest_first(releases: Iterable[Release]) -> list[Release]:
    """12.10 before 12.9; variants of one version in their own order."""
    return sorted(sorted(releases, key=lambda row: row.variant), key=lambda row: numbers(row.version), reverse=True)
