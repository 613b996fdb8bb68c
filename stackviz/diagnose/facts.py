"""Facts of a dump as rows of text, in the order of the wire format's registry. No queries, no request."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.units import format_reported
from stackviz.web.words import missing_text
from stackviz.wire import Absent, Fact, Scalar


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact. `text` is empty when it is missing: then `missing` says why, `detail` more of it."""

    name: str
    meaning: str
    text: str = ""
    missing: str = ""
    detail: str = ""


def told(table: Mapping[str, Fact], facts: Mapping[str, Scalar]) -> tuple[FactRow, ...]:
    return tuple(
        FactRow(name, fact.meaning, fact_text(fact, facts[name])) for name, fact in table.items() if name in facts
    )


def not_told(table: Mapping[str, Fact], absent: Mapping[str, Absent]) -> tuple[FactRow, ...]:
    return tuple(
        FactRow(name, fact.meaning, missing=missing_text(absent[name].reason), detail=absent[name].detail or "")
        for name, fact in table.items()
        if name in absent
    )


def fact_text(fact: Fact, value: Scalar) -> str:
    """In words: bytes in GiB, a truth as yes or no, a text as it was written."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, str):
        return value
    return format_reported(value, fact.unit)
