"""`tpu-info` -> the TPU chips of a machine, with the memory in use where a program runs on them.

Format: https://docs.cloud.google.com/tpu/docs/tpu-info-cli.
"""

import re

from stackviz.importers.importer import Importer, Span
from stackviz.importers.reading import CardReading, Reading
from stackviz.wire import LIMITS

__all__ = ["IMPORTER"]

KIND = "tpu-info"

_TITLE = re.compile(r"^[ \t>]{0,20}TPU Chips[ \t]{0,40}$", re.MULTILINE)
_LINE = re.compile(r"[ \t>]{0,20}(?:[┏┡└┃│┓┩┘]|TPU (?:Chips|Runtime Utilization)|[ \t]{0,40}$)")
_CHIP = re.compile(r"│ ?(/dev/\S{3,30}) {1,20}│ ?(TPU [\w ]{2,30}?) {1,20}│ ?(\d{1,2}) {1,20}│")
_USE = re.compile(
    r"│ ?\d{1,4} {1,20}│ ?(\d{1,6}(?:\.\d{1,4})?) GiB / (\d{1,6}(?:\.\d{1,4})?) GiB {1,20}"
    r"│ {0,20}(\d{1,3}(?:\.\d{1,4})?)% {0,20}│"
)
_MOST_LINES = 400


def find_tpu_info(text: str) -> list[Span]:
    spans: list[Span] = []
    for title in _TITLE.finditer(text):
        if not spans or title.start() >= spans[-1].end:
            spans.append(Span(title.start(), _end_of(text, title.end())))
        if len(spans) == 16:
            break
    return spans


def _end_of(text: str, at: int) -> int:
    """Behind the last line of its tables."""
    last = at
    for _number in range(_MOST_LINES):
        start = text.find("\n", at) + 1
        if not start:
            break
        at = text.find("\n", start)
        at = len(text) if at < 0 else at
        line = text[start : min(at, start + 300)]
        if not _LINE.match(line):
            break
        last = at if line.strip() else last
    return last


def read_tpu_info(text: str) -> Reading:
    """Never raises. Memory is stated for each device; where a chip has two of them, they are not told apart."""
    reading = Reading(kind=KIND)
    chips = _CHIP.findall(text)[: LIMITS.cards]
    uses = _USE.findall(text)[: LIMITS.cards]
    for index, (_file, name, _devices) in enumerate(chips):
        card = CardReading(index=index, kind="tpu", vendor="google", reported_name=name.removesuffix(" chip"))
        if len(uses) == len(chips):
            used, total, busy = uses[index]
            card.memory_bytes = round(float(total) * 2**30) or None
            card.sheet.state("memory_used_bytes", round(float(used) * 2**30))
            card.sheet.state("busy_ratio", float(busy) / 100)
        if card.memory_bytes is None:
            card.sheet.mark_missing("memory_bytes", "not_reported", "tpu-info states it while a program runs")
        reading.cards.append(card.card())
    if not chips:
        reading.problem("tpu-info lists no chip")
    return reading


IMPORTER = Importer(
    kind=KIND,
    tool="tpu-info",
    tells="TPU chips, their memory and load",
    trust=74,
    find=find_tpu_info,
    marks=("TPU Chips",),
    read=read_tpu_info,
    command="tpu-info",
)
