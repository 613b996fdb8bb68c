"""/proc/meminfo -> the machine's memory."""

import re

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER"]

KIND = "meminfo"

_TOTAL = re.compile(r"^[ \t>]{0,8}MemTotal:[ \t]+(\d{1,15}) kB[ \t]*$", re.MULTILINE)
_MOST_DUMPS = 16
_BLOCK = re.compile(r"(?:[ \t>]{0,8}[A-Z][\w()]{1,40}:[ \t]+\d{1,15}(?: kB)?[ \t]*(?:\n|\Z)){1,100}")


def find_meminfo(text: str) -> list[Span]:
    spans: list[Span] = []
    for match in _TOTAL.finditer(text):
        block = None if spans and match.start() < spans[-1].end else _BLOCK.match(text, match.start())
        if block:
            spans.append(Span(block.start(), block.end()))
        if len(spans) == _MOST_DUMPS:
            break
    return spans


def read_meminfo(text: str) -> Reading:
    reading = Reading(kind=KIND)
    match = _TOTAL.search(text)
    if match:
        reading.sheet.state("memory.total_bytes", int(match[1]) * 1024)
    else:
        reading.problem("there is no line 'MemTotal:'")
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="/proc/meminfo",
    tells="main memory",
    trust=72,
    find=find_meminfo,
    marks=("MemTotal:",),
    read=read_meminfo,
    command="cat /proc/",
)
