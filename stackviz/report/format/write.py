"""A Report -> JSON text: compact, in a fixed order, with the fields that were not understood where they came from."""

import json
from collections.abc import Mapping
from typing import Any

from stackviz.report.format.objects import object_of
from stackviz.report.format.report import FORMAT, REPORT, Absent, Card, Report, Software

__all__ = ["absent_document", "object_document", "to_document", "to_json"]


def to_json(report: Report) -> str:
    """parse_report(to_json(report)) == report. Raises ValueError if a number is NaN or infinite."""
    return json.dumps(to_document(report), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_document(report: Report) -> dict[str, Any]:
    """The report as dicts and lists, ready for json.dumps."""
    return {"format": FORMAT, **REPORT.write(report)}


def object_document(part: Card | Software | Absent) -> dict[str, Any]:
    """A part of a report as the report would hold it."""
    cls: type = type(part)
    return object_of(cls).write(part)


def absent_document(absent: Mapping[str, Absent]) -> dict[str, Any]:
    return {name: object_document(why) for name, why in absent.items()}
