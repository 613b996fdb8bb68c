"""The agent's own report as JSON, as it shows it before it sends it: everything in it is read as it stands."""

import json
import re
from uuid import UUID

from stackviz.report.format import LIMITS, NOBODY, Report, ReportError, parse_report
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER"]

KIND = "agent-report"

_HEAD = re.compile(r"\{\s{0,40}\"format\": ?1,\s{0,40}\"id\": ?\"")
_MOST_REPORTS = 8
_MOST_TRIED = 32  # heads: each error counts the lines before it


def find_agent_report(text: str) -> list[Span]:
    """Each character is read once: what begins inside a document that is broken, or in a whole one, is passed over."""
    if '"format": 1' not in text and '"format":1' not in text:
        return []
    spans: list[Span] = []
    read_until, tried = 0, 0
    for match in _HEAD.finditer(text):
        if match.start() < read_until:
            continue
        read_until, is_whole = _read_document(text, match.start())
        if is_whole:
            spans.append(Span(match.start(), read_until))
        tried += 1
        if len(spans) == _MOST_REPORTS or tried == _MOST_TRIED:
            break
    return spans


def _read_document(text: str, start: int) -> tuple[int, bool]:
    """Where the document ends, and that it is whole; or where it is broken."""
    try:
        return json.JSONDecoder().raw_decode(text[: start + LIMITS.body_bytes], start)[1], True
    except json.JSONDecodeError as error:
        return error.pos, False
    except (ValueError, RecursionError):  # a number of thousands of digits; thousands of brackets
        return len(text), False


def read_agent_report(text: str) -> Reading:
    """Never raises. One that the site would refuse is refused here, with the path of what is wrong."""
    reading = Reading(kind=KIND)
    try:
        document = json.loads(text)
        document |= {"id": str(UUID(int=0)), "machine": {"identity": NOBODY}}  # a saved text has them masked
        report: Report = parse_report(document)
    except (ReportError, ValueError, TypeError, RecursionError) as error:
        reading.problem(f"not a report that this site reads: {error}")
        return reading
    reading.sheet.facts.update(report.facts)
    reading.sheet.absent.update(report.absent)
    reading.cards.extend(report.cards)
    reading.software.extend(report.software)
    reading.results.extend(report.results)
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="the agent's report",
    tells="everything that the agent found, results included",
    trust=99,
    find=find_agent_report,
    read=read_agent_report,
    command=r"(?:\S{0,80}/)?python[\w.]{0,6} (?:agent\.pyz|-m stackviz\.agent)",
)
