"""`nvidia-smi dmon` -> how many cards there are. It measures cards by number and names none of them."""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER"]

KIND = "nvidia-smi-dmon"

_HEADER = re.compile(
    r"^[ \t>]{0,8}#[ \t]*((?:Date[ \t]+Time[ \t]+)?gpu(?:[ \t]+[a-z][\w+-]{1,20}){1,60})[ \t]*$", re.MULTILINE
)
_ROW = re.compile(r"[ \t>]{0,8}(?:#|(?:\d{8}[ \t]+\d\d:\d\d:\d\d[ \t]+)?\d{1,3}(?:[ \t]+(?:\d{1,12}|-)){1,60}[ \t]*$)")
_MOST_ROWS = 100_000


def find_dmon(text: str) -> list[Span]:
    """A header comes again every so many rows: they are of one log as long as nothing else stands between."""
    spans: list[Span] = []
    for match in _HEADER.finditer(text):
        if spans and match.start() < spans[-1].end:
            continue
        spans.append(Span(match.start(), _end_of_rows(text, match.start())))
        if len(spans) == LIMITS.cards:
            break
    return spans


def _end_of_rows(text: str, at: int) -> int:
    end = at
    for _ in range(_MOST_ROWS):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        if not _ROW.match(text[at : min(line_end, at + 600)]):
            break
        end = line_end
        if line_end == len(text):
            break
        at = line_end + 1
    return max(end, min(len(text), at + 1))


def read_dmon(text: str) -> Reading:
    reading = Reading(kind=KIND)
    header = _HEADER.search(text)
    column = header[1].split().index("gpu") if header else 0
    rows = [line.split() for line in text.splitlines()[:_MOST_ROWS] if _ROW.match(line[:600]) and "#" not in line[:20]]
    cells = {row[column] for row in rows if len(row) > column}
    numbers = sorted(int(number) for number in cells if re.fullmatch(r"[0-9]{1,3}", number))
    if not numbers:
        reading.problem("no row of measurements")
    elif numbers == list(range(len(numbers))):
        reading.sheet.state("nvidia.card_count", len(numbers))
    else:
        reading.sheet.mark_missing("nvidia.card_count", "not_reported", "only some cards were measured")
    if numbers:
        reading.problem("nvidia-smi dmon names no card: its measurements, by card number, are not stored")
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="nvidia-smi dmon",
    tells="the number of cards measured, without their names",
    trust=82,
    find=find_dmon,
    marks=("gpu",),
    read=read_dmon,
    command="nvidia-smi",
)
