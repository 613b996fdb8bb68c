"""`nvidia-smi -q -x` -> cards and driver facts. Document types v7 (driver 352) to v13 (driver 590) were read.

What each element means: `nvidia-smi --help-query-gpu` and the manual of nvidia-smi.
"""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.nvidia_card import add_card, instance_of, new_card, note_cut, note_system
from stackviz.report.importers.nvidia_fields import read_fields
from stackviz.report.importers.nvidia_values import byte_count, integer_of, state_driver, value, why
from stackviz.report.importers.reading import CardReading, Reading, clean
from stackviz.report.importers.xml_tree import Element, XmlRefusedError, parse_xml

__all__ = ["IMPORTER", "read_nvidia_smi_xml"]

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
