"""`tpu-info` -> the TPU chips of a machine, with the memory in use where a program runs on them.

Format: https://docs.cloud.google.com/tpu/docs/tpu-info-cli.
"""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.blocks import blocks_after
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["IMPORTER"]

KIND = "tpu-info"

_TITLE = re.compile(r"^[ \t>]{0,20}TPU Chips[ \t]{0,40}$", re.MULTILINE)
_LINE = re.compile(r"[ \t>]{0,20}(?:[┏┡└┃│┓┩┘]|TPU (?:Chips|Runtime Utilization)|[ \t]{0,40}$)")
_CHIP = re.compile(r"│ ?(/dev/\S{3,30}) {1,20}│ ?(TPU [\w ]{2,30}?) {1,20}│ ?(\d{1,2}) {1,20}│")
_USE = re.compile(
    r"│ ?\d{1,4} {1,20}│ ?(\d{1,6}(?:\.\d{1,4})?) GiB / (\d{1,6}(?:\.\d{1,4})?) GiB {1,20}"
    r"│ {0,20}(\d{1,3}(?:\.\d{1,4})?)% {0,20}│"
)


def find_tpu_info(text: str) -> list[Span]:
    return blocks_after(_TITLE, _LINE, text, anchor="TPU Chips")


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
