"""The report format, version 1: what an agent sends and the site reads. Both ends use this package.

Nothing here reads a file, a clock or the network.
Prose: docs/wire-format.md.

>>> parse_report(b'{"format": 2}')
Traceback (most recent call last):
    ...
stackviz.report.format.limits.ReportError: format: is 2; the format read here is 1
"""

from stackviz.report.format.components import COMPONENTS
from stackviz.report.format.facts import ABSENT_REASONS, CARD_FACTS, CONDITIONS, FACTS, Fact, FactType
from stackviz.report.format.limits import LIMITS, Limits, ReportError, ReportTooLarge
from stackviz.report.format.parse import cards_named, parse_report
from stackviz.report.format.report import (
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
from stackviz.report.format.write import hashed, hashed_uuid, json_schema, to_document, to_json

__all__ = [
    "ABSENT_REASONS", "CARD_FACTS", "COMPONENTS", "CONDITIONS", "FACTS", "FORMAT", "FRAMEWORKS", "LIMITS", "NOBODY",
    "PROBE_STATES", "RESULT_STATES", "Absent", "Agent", "Card", "Fact", "FactType", "Interference", "Limits", "Machine",
    "ProbeRun", "Report", "ReportError", "ReportTooLarge", "Result", "Scalar", "Software", "cards_named", "hashed",
    "hashed_uuid", "json_schema", "parse_report", "to_document", "to_json",
]  # fmt: skip
