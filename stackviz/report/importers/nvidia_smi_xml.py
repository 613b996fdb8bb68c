"""`nvidia-smi -q -x` -> cards and driver facts. Document types v7 (driver 352) to v13 (driver 590) were read.

What each element means: `nvidia-smi --help-query-gpu` and the manual of nvidia-smi.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from stackviz.report.format import LIMITS
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

__all__ = ["IMPORTER", "read_nvidia_smi_xml"]

MOST_CHARS = 8 * 1024 * 1024
_MOST_DEPTH = 40
_MOST_ELEMENTS = 200_000


class XmlRefusedError(ValueError):
    """The text is no XML, or XML we do not read."""


@dataclass
class Element:
    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def child(self, name: str) -> "Element | None":
        return next((child for child in self.children if child.name == name), None)

    def all(self, name: str) -> Iterator["Element"]:
        return (child for child in self.children if child.name == name)

    def at(self, path: str) -> str | None:
        """The text at `a/b/c`, trimmed; None if there is no such element."""
        element: Element | None = self
        for name in path.split("/"):
            element = element.child(name) if element else None
        return element.text.strip() if element else None


def parse_xml(text: str) -> Element:
    """The root element. Raises XmlRefusedError."""
    if len(text) > MOST_CHARS:
        raise XmlRefusedError(f"longer than {MOST_CHARS} characters")
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.specified_attributes = True
    parser.EntityDeclHandler = _entity
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)  # noqa: FBT003 - expat's own signature
    except expat.ExpatError as error:
        raise XmlRefusedError(f"not XML: {error}") from None
    if builder.root is None:
        raise XmlRefusedError("no element")
    return builder.root


class _Builder:
    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS or len(self._open) >= _MOST_DEPTH:
            raise XmlRefusedError("too many elements, or nested too deeply")
        element = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].text += text


def _entity(*_arguments: object) -> None:
    raise XmlRefusedError("an entity declaration")


KIND = "nvidia-smi-xml"

_START = re.compile(
    r"<\?xml[^>]{0,200}\?>\s{0,20}(?:<!DOCTYPE nvidia_smi_log|<nvidia_smi_log)|<!DOCTYPE nvidia_smi_log|<nvidia_smi_log"
)
_END = "</nvidia_smi_log>"
_NO_SUCH_LINE = ("not_reported", "this driver prints no such line")
_MOST_PROGRAMS = 200


def find_nvidia_smi_xml(text: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    while (start := _START.search(text, at)) is not None:
        end = text.find(_END, start.start())
        at = end + len(_END) if end >= 0 else len(text)
        spans.append(Span(start.start(), at))
    return spans


def read_nvidia_smi_xml(text: str) -> Reading:
    """Never raises; `problems` says why nothing was read. Text around the document is passed over."""
    reading = Reading(kind=KIND)
    try:
        log = parse_xml(_document_in(text))
    except XmlRefusedError as error:
        reading.problem(f"the XML cannot be read: {error}")
        return reading
    if log.name != "nvidia_smi_log":
        reading.problem(f"the document is {clean(log.name, 40)}, not nvidia_smi_log")
        return reading
    driver = value(log.at("driver_version")) or value(log.at("kmd_version"))
    state_driver(reading, driver, value(log.at("cuda_version")) or value(log.at("cuda_umd_version")))
    reading.sheet.state("nvidia.card_count", integer_of(log.at("attached_gpus")))
    _read_cards(reading, log, driver)
    return reading


def _document_in(text: str) -> str:
    start = _START.search(text)
    if start is None:
        return text
    end = text.find(_END, start.start())
    return text[start.start() : end + len(_END)] if end >= 0 else text[start.start() :]


def _read_cards(reading: Reading, log: Element, driver: str | None) -> None:
    gpus = list(log.all("gpu"))
    for number, gpu in enumerate(gpus[: LIMITS.cards]):
        name = value(gpu.at("product_name"))
        if name is None:
            reading.problem(f"card {number} has no product name: {clean(gpu.at('product_name') or '') or 'nothing'}")
            continue
        add_card(reading, _card(number, name, gpu, driver))
    for gpu in gpus:
        _read_instances(reading, gpu)
    note_cut(reading, len(gpus))
    note_system(reading, _programs(gpus[: LIMITS.cards]))


def _card(index: int, name: str, gpu: Element, driver: str | None) -> CardReading:
    memory = gpu.at("fb_memory_usage/total")
    card = new_card(index, name, byte_count(memory), gpu.at("uuid"))  # 0 MiB is written for "not known"
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", *why(memory))
    card.sheet.state("driver_version", driver)
    read_fields(card, gpu.at, "xml", _NO_SUCH_LINE)
    return card


def _read_instances(reading: Reading, gpu: Element) -> None:
    instances = [part for holder in gpu.all("mig_devices") for part in holder.all("mig_device")]
    parent = next((card for card in reading.cards if card.facts.get("pci_bus_id") == gpu.at("pci/pci_bus_id")), None)
    for instance in instances:
        if parent is None or len(reading.cards) >= LIMITS.cards:
            return
        card = instance_of(parent, reading, byte_count(instance.at("fb_memory_usage/total")), instance.at("uuid"))
        card.sheet.state("multiprocessors", integer_of(instance.at("device_attributes/shared/multiprocessor_count")))
        card.sheet.mark_missing("mig_profile", "not_reported", "nvidia-smi -q -x names no profile")
        add_card(reading, card)


def _programs(gpus: list[Element]) -> list[str]:
    processes = [program for gpu in gpus for holder in gpu.all("processes") for program in holder.all("process_info")]
    return [process.at("process_name") or "" for process in processes[:_MOST_PROGRAMS]]


IMPORTER = Importer(
    kind=KIND,
    tool="nvidia-smi -q -x",
    tells="driver, newest CUDA it supports, cards with their limits, states and errors",
    trust=96,
    find=find_nvidia_smi_xml,
    read=read_nvidia_smi_xml,
    command="nvidia-smi",
)
