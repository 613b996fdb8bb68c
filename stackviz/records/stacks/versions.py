"""Releases sorted by version number, which the database cannot do."""

import re
from collections.abc import Iterable

from stackviz.records.stacks.models import Release
from stackviz.report.rules.versions import numbers


def newest_first(releases: Iterable[Release]) -> list[Release]:
    """Newest first: 12.10 before 12.9, Apple10 before Apple9; variants of one version in alphabetical order."""
    return sorted(sorted(releases, key=lambda row: row.variant), key=lambda row: _sort_key(row.version), reverse=True)


def _sort_key(version: str) -> tuple[int, ...]:
    """The numbers of a version; of a name ("Apple10") the numbers in it."""
    return numbers(version) or tuple(int(part) for part in re.findall(r"\d{1,9}", version))
