"""`nvidia-smi -q` -> cards and driver facts, from the whole log or from the sections `-d` asks for.

A label is known by the heading right above it: so a log whose indentation a forum has eaten is read as well.
"""

import re
from dataclasses import dataclass, field

from stackviz.report.format import LIMITS, Card
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.nvidia_fields import read_fields
from stackviz.report.importers.nvidia_values import (
    add_card,
    byte_count,
    instance_of,
    integer_of,
    new_card,
    note_cut,
    note_system,
    state_driver,
    value,
    why,
)
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = ["IMPORTER", "read_nvidia_smi_q"]

KIND = "nvidia-smi-q"

_START = re.compile(r"=NVSMI LOG=|Attached GPUs {1,60}: ?\d")
_BELONGS = re.compile(r"\s|GPU [0-9A-Fa-f]{4,8}:|=|[A-Z][\w .()/-]{1,60} :(?: |$)|[A-Z][\w .]{1,40}$")
_GPU = re.compile(r"\s{0,12}GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*(.{0,80})")
_LINE = re.compile(r"(\s*)(\S[^:\n]{0,60}?)\s*:(?: (.*)|$)")
_NO_SUCH_LINE = ("not_reported", "the output has no such line")
_MOST_LINES = 100_000
_MOST_PROGRAMS = 200


@dataclass
class _Block:
    """The lines under one "GPU 0000...:" or one "MIG Device": label -> value, and heading/label -> value."""

    bus: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    under: dict[str, str] = field(default_factory=dict)
    instances: list["_Block"] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)

    def ask(self, label: str) -> str | None:
        label = label.lower()
        return self.under.get(label) if "/" in label else self.labels.get(label)


def find_nvidia_smi_q(text: str) -> list[Span]:
    spans: list[Span] = []
    for start in _START.finditer(text):
        if not spans or start.start() >= spans[-1].end:
            begin = text.rfind("\n", 0, start.start()) + 1
            spans.append(Span(begin, _end_of(text, start.end())))
    return spans


def _end_of(text: str, at: int) -> int:
    """Where the lines stop looking like those of a log, or the next log starts."""
    end = text.find("\n", at)
    while 0 <= end < len(text) - 1:
        start = end + 1
        end = text.find("\n", start)
        line = text[start : min(end if end >= 0 else len(text), start + 400)]
        if "=NVSMI LOG=" in line or (line.strip() and not _BELONGS.match(line)):
            return start
        if "+--" in line or "|" in line[:2]:
            return start
    return len(text)


def read_nvidia_smi_q(text: str) -> Reading:
    """Never raises. A log torn at either end gives what is left of it."""
    reading = Reading(kind=KIND)
    head, blocks = _blocks(reading, text)
    driver = value(head.ask("driver version")) or value(head.ask("kmd version"))
    state_driver(reading, driver, value(head.ask("cuda version")) or value(head.ask("cuda umd version")))
    reading.sheet.state("nvidia.card_count", integer_of(head.ask("attached gpus")))
    _read_cards(reading, blocks, driver)
    return reading


# ---- lines ----------------------------------------------------------------------------------------------------------


def _blocks(reading: Reading, text: str) -> tuple[_Block, list[_Block]]:
    head = block = _Block()
    blocks: list[_Block] = []
    lines = text.split("\n", _MOST_LINES + 1)
    if len(lines) > _MOST_LINES:
        reading.problem(f"more than {_MOST_LINES} lines; the rest was not read")
    headings: list[tuple[int, str]] = []
    for line in lines[:_MOST_LINES]:
        gpu = _GPU.match(line)
        if gpu:
            block = _Block(gpu[1])
            blocks.append(block)
            headings = []
            if gpu[2]:
                reading.problem(f"GPU {gpu[1]} {gpu[2]}")
        elif line.strip() and not line.startswith("="):
            _take(block, headings, line[:600])
    return head, blocks


def _take(block: _Block, headings: list[tuple[int, str]], line: str) -> None:
    match = _LINE.match(line)
    indent = len(line) - len(line.lstrip())
    while headings and headings[-1][0] >= indent and (match is None or indent > 0):
        headings.pop()
    if match is None:
        headings.append((indent, line.strip().lower()))
        if headings[-1][1] == "mig device":
            block.instances.append(_Block())
        return
    label, written = match[2].strip().lower(), (match[3] or "").strip()
    target = block.instances[-1] if block.instances and any(name == "mig device" for _at, name in headings) else block
    target.labels.setdefault(label, written)
    for _at, heading in headings[-1:]:
        target.under.setdefault(f"{heading}/{label}", written)
    if label == "name" and len(block.programs) < _MOST_PROGRAMS:
        block.programs.append(written)
    if indent:
        headings.append((indent, label))  # "HW Slowdown" has a value and labels of its own


# ---- cards ----------------------------------------------------------------------------------------------------------


def _read_cards(reading: Reading, blocks: list[_Block], driver: str | None) -> None:
    nameless = 0
    for number, block in enumerate(blocks[: LIMITS.cards]):
        name = value(block.ask("product name"))
        if name is None:
            nameless += 1
            continue
        add_card(reading, _card(number, name, block, driver))
    for block in blocks[: LIMITS.cards]:
        _read_instances(reading, block)
    if nameless:
        reading.problem(f"{nameless} cards without a product name: the output lacks the section that contains it")
    note_cut(reading, len(blocks))
    note_system(reading, [program for block in blocks[: LIMITS.cards] for program in block.programs])


def _card(index: int, name: str, block: _Block, driver: str | None) -> CardReading:
    memory = block.ask("fb memory usage/total") or block.ask("memory usage/total")
    card = new_card(index, name, byte_count(memory), block.ask("gpu uuid"))
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", *(why(memory) if memory is not None else _NO_SUCH_LINE))
    card.sheet.state("driver_version", driver)
    read_fields(card, block.ask, "text", _NO_SUCH_LINE)
    if "pci_bus_id" not in card.sheet.facts:
        card.sheet.state("pci_bus_id", clean(block.bus))
    return card


def _read_instances(reading: Reading, block: _Block) -> None:
    parent = _parent(reading, block)
    for instance in block.instances:
        if parent is None or len(reading.cards) >= LIMITS.cards:
            return
        memory = instance.ask("shared fb memory usage/total") or instance.ask("fb memory usage/total")
        card = instance_of(parent, reading, byte_count(memory), instance.ask("mig uuid"))
        card.sheet.state("multiprocessors", integer_of(instance.ask("shared/multiprocessor count")))
        card.sheet.mark_missing("mig_profile", "not_reported", "nvidia-smi -q names no profile")
        add_card(reading, card)


def _parent(reading: Reading, block: _Block) -> Card | None:
    buses = {block.bus, block.ask("pci/bus id")}
    return next((card for card in reading.cards if card.facts.get("pci_bus_id") in buses), None)


IMPORTER = Importer(
    kind=KIND,
    tool="nvidia-smi -q",
    tells="driver, cards with their limits, states and errors",
    trust=94,
    find=find_nvidia_smi_q,
    marks=("=NVSMI LOG=", "Attached GPUs"),
    read=read_nvidia_smi_q,
    command="nvidia-smi",
)
