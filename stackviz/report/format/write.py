"""Write a Report as JSON: compact, in a fixed order, with unknown fields where they came from; hash a card's UUID."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from stackviz.report.format.objects import object_of
from stackviz.report.format.report import FORMAT, REPORT, Absent, Card, Report, Software

__all__ = ["absent_document", "hashed", "hashed_uuid", "object_document", "to_document", "to_json"]


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


def hashed(kind: str, identifier: str) -> str:
    """64 hex digits for an identifier of this kind ("machine-id", "card-uuid", ...)."""
    return hashlib.sha256(f"accelweb:1:{kind}:{identifier.strip().lower()}".encode()).hexdigest()


def hashed_uuid(uuid: str) -> str:
    """The hash of a card's UUID, the same whether a tool writes `GPU-...`, `MIG-...` or the bare UUID."""
    bare = uuid.strip().lower()
    for prefix in ("gpu-", "mig-"):
        bare = bare.removeprefix(prefix)
    return hashed("card-uuid", bare)


def json_schema() -> dict[str, Any]:
    """Unknown fields are allowed everywhere, as the parser keeps them."""
    report = REPORT.schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "accelweb report",
        "description": "What one machine said at one time. SI units; unknown is absent with a reason, never 0.",
        **report,
        "properties": {"format": {"const": FORMAT, "type": "integer"}, **report["properties"]},
        "required": ["format", *report["required"]],
    }
