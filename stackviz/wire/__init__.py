"""The report format, version 1: what an agent sends and the site reads. Both ends use this package.

Nothing here reads a file, a clock or the network.
Prose: docs/wire-format.md.

>>> parse_report(b'{"format": 2}')
Traceback (most recent call last):
    ...
stackviz.wire.errors.ReportError: format: is 2; the format read here is 1
"""

from stackviz.facts import ABSENT_REASONS, CARD_FACTS, CONDITIONS, FACTS, Fact, FactType
from stackviz.wire.components import COMPONENTS
from stackviz.wire.errors import ReportError, ReportTooLarge
from stackviz.wire.evidence import cards_named
from stackviz.wire.hashing import hashed, hashed_uuid
from stackviz.wire.limits import LIMITS, Limits
from stackviz.wire.parse import parse_report
from stackviz.wire.report import (
    FORMAT,
    FRAMEWORKS,
    NOBODY,
    PROBE_STATES,
    RESULT_STATES,
    Absent,
    Agent,
    Card,
    Interference,
    Machine,
    ProbeRun,
    Report,
    Result,
    Scalar,
    Software,
)
from stackviz.wire.schema import json_schema
from stackviz.wire.write import to_document, to_json

__all__ = [
    "ABSENT_REASONS", "CARD_FACTS", "COMPONENTS", "CONDITIONS", "FACTS", "FORMAT", "FRAMEWORKS", "LIMITS", "NOBODY",
    "PROBE_STATES", "RESULT_STATES", "Absent", "Agent", "Card", "Fact", "FactType", "Interference", "Limits", "Machine",
    "ProbeRun", "Report", "ReportError", "ReportTooLarge", "Result", "Scalar", "Software", "cards_named", "hashed",
    "hashed_uuid", "json_schema", "parse_report", "to_document", "to_json",
]  # fmt: skip
