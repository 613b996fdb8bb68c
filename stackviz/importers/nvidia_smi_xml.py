"""`nvidia-smi -q -x` -> cards and driver facts. Document types v7 (driver 352) to v13 (driver 590) were read.

What each element means: `nvidia-smi --help-query-gpu` and the manual of nvidia-smi.
May import: wire and the standard library.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stackviz.importers.importer import Importer, Span
from stackviz.importers.reading import CardReading, Reading, clean
from stackviz.importers.xml_tree import Element, XmlRefusedError, parse_xml
from stackviz.wire import LIMITS, Scalar, hashed_uuid

__all__ = ["IMPORTER", "read_nvidia_smi_xml"]

KIND = "nvidia-smi-xml"

_START = re.compile(r"<\?xml[^>]*\?>|<!DOCTYPE nvidia_smi_log|<nvidia_smi_log")
_END = "</nvidia_smi_log>"
_DOES_NOT_TELL = {
    "n/a": ("not_supported", None),
    "[n/a]": ("not_supported", None),
    "not supported": ("not_supported", None),
    "[not supported]": ("not_supported", None),
    "requested functionality has been deprecated": ("not_supported", "deprecated in this driver"),
    "unknown error": ("failed", "Unknown Error"),
    "gpu is lost": ("failed", "GPU is lost"),
    "err!": ("failed", "ERR!"),
    "[redacted]": ("withheld", None),
    "": ("not_reported", None),
}
"""What nvidia-smi writes instead of a value, in lower case -> reason and detail."""


def find_nvidia_smi_xml(text: str) -> list[Span]:
    spans: list[Span] = []
    while "<nvidia_smi_log" in text[(at := spans[-1].end if spans else 0) :]:
        start = _START.search(text, at)
        if start is None:
            break
        end = text.find(_END, start.start())
        spans.append(Span(start.start(), end + len(_END) if end >= 0 else len(text)))
    return spans


def read_nvidia_smi_xml(text: str) -> Reading:
    """Never raises; `problems` says why nothing was read. Text around the document is passed over."""
    reading = Reading(KIND)
    try:
        log = parse_xml(_document_in(text))
    except XmlRefusedError as error:
        reading.problem(f"the XML cannot be read: {error}")
        return reading
    if log.name != "nvidia_smi_log":
        reading.problem(f"the document is {clean(log.name, 40)}, not nvidia_smi_log")
        return reading
    _read_driver(reading, log)
    _read_cards(reading, log)
    return reading


def _document_in(text: str) -> str:
    start = _START.search(text)
    if start is None:
        return text
    end = text.find(_END, start.start())
    return text[start.start() : end + len(_END)] if end >= 0 else text[start.start() :]


def _read_driver(reading: Reading, log: Element) -> None:
    driver = _value(log.at("driver_version")) or _value(log.at("kmd_version"))
    cuda = _value(log.at("cuda_version")) or _value(log.at("cuda_umd_version"))
    if driver:
        reading.sheet.state("nvidia.driver_version", driver)
        reading.found("nvidia-driver", driver, "nvidia-smi")
    else:
        reading.sheet.lack("nvidia.driver_version", "not_reported", "nvidia-smi names no driver")
    if cuda:
        reading.sheet.state("cuda.driver_api_version", cuda)
        reading.found("cuda-driver-api", cuda, "nvidia-smi")
    else:
        reading.sheet.lack("cuda.driver_api_version", "not_reported", "nvidia-smi names no CUDA version")
    reading.sheet.state("nvidia.card_count", _whole_number(log.at("attached_gpus")))


def _read_cards(reading: Reading, log: Element) -> None:
    gpus = list(log.all("gpu"))
    for number, gpu in enumerate(gpus[: LIMITS.cards]):
        name = _value(gpu.at("product_name"))
        if name is None:
            reading.problem(f"card {number} has no product name: {_text(gpu.at('product_name')) or 'nothing'}")
            continue
        reading.cards.append(_card(number, name, gpu, log).card())
    for gpu in gpus:
        _read_instances(reading, gpu)
    if len(gpus) > LIMITS.cards:
        reading.problem(f"{len(gpus)} cards; the first {LIMITS.cards} were read")


def _card(index: int, name: str, gpu: Element, log: Element) -> CardReading:
    memory_bytes = _bytes(gpu.at("fb_memory_usage/total")) or None  # 0 MiB is written for "not known"
    uuid = _value(gpu.at("uuid"))
    card = CardReading(index, "gpu", "nvidia", name, memory_bytes, hashed_uuid(uuid) if uuid else None)
    if memory_bytes is None:
        card.sheet.lack("memory_bytes", *_why(gpu.at("fb_memory_usage/total")))
    card.sheet.state("driver_version", _value(log.at("driver_version")))
    for field in _FIELDS:
        _read_field(card, gpu, field)
    return card


def _read_field(card: CardReading, gpu: Element, field: "_Field") -> None:
    written = [found for found in map(gpu.at, field.paths) if found is not None]
    for text in written:
        value = field.convert(text) if _value(text) is not None else None
        if value is not None:
            card.sheet.state(field.fact, value)
            return
    card.sheet.lack(field.fact, *(_why(written[0]) if written else ("not_reported", "this driver writes no such line")))


def _read_instances(reading: Reading, gpu: Element) -> None:
    """The instances a card is cut into, as cards of their own, numbered after the whole cards."""
    instances = [found for holder in gpu.all("mig_devices") for found in holder.all("mig_device")]
    parent = next((card for card in reading.cards if card.facts.get("pci_bus_id") == gpu.at("pci/pci_bus_id")), None)
    for instance in instances:
        if parent is None or len(reading.cards) >= LIMITS.cards:
            return
        memory_bytes = _bytes(instance.at("fb_memory_usage/total"))
        index = max(card.index for card in reading.cards) + 1
        card = CardReading(index, "gpu", "nvidia", f"{parent.reported_name} MIG", memory_bytes)
        uuid = _value(instance.at("uuid"))
        card.uuid_hash = hashed_uuid(uuid) if uuid else None
        card.sheet.state("mig_parent_index", parent.index)
        card.sheet.state("multiprocessors", _whole_number(instance.at("device_attributes/shared/multiprocessor_count")))
        card.sheet.lack("mig_profile", "not_reported", "nvidia-smi -q -x names no profile")
        reading.cards.append(card.card())


# ---- single values --------------------------------------------------------------------------------------------------


def _text(written: str | None) -> str:
    return clean(written or "")


def _value(written: str | None) -> str | None:
    """What was written, or None where it is one of the ways of not telling."""
    text = _text(written)
    return None if text.lower() in _DOES_NOT_TELL else text


def _why(written: str | None) -> tuple[str, str | None]:
    text = _text(written)
    return _DOES_NOT_TELL.get(text.lower(), ("not_reported", f"nvidia-smi says {text}"))


def _number(text: str | None) -> float | None:
    match = re.match(r"\s*(-?\d{1,15}(?:\.\d{1,9})?)(?![\d.])\s*([A-Za-z]*)", text or "")
    scale = _SCALES.get(match[2].lower()) if match else None
    return float(match[1]) * scale if match and scale else None


_SCALES = {
    "": 1.0,
    "w": 1.0,
    "c": 1.0,
    "x": 1.0,
    "mhz": 1e6,
    "ghz": 1e9,
    "kib": 1024.0,
    "mib": 1024.0**2,
    "gib": 1024.0**3,
}
"""Unit as nvidia-smi writes it -> SI."""


def _whole_number(text: str | None) -> int | None:
    number = _number(text)
    return None if number is None else int(number)


def _bytes(text: str | None) -> int | None:
    return _whole_number(text) if text and text.strip().lower().endswith("ib") else None


def _on(text: str) -> bool | None:
    return {"enabled": True, "disabled": False, "yes": True, "no": False}.get(text.lower())


def _lower(text: str) -> str:
    return text.lower().replace("_", "-").replace(" ", "-")


def _hexadecimal(text: str) -> str | None:
    return f"0x{text.upper().removeprefix('0X')}" if re.fullmatch(r"(0[xX])?[0-9A-Fa-f]{4,8}", text) else None


@dataclass(frozen=True)
class _Field:
    fact: str
    paths: tuple[str, ...]  # the first that tells counts; drivers moved some
    convert: Callable[[str], Scalar | None]


def _fields(rows: Iterable[tuple[str, str, Callable[[str], Scalar | None]]]) -> tuple[_Field, ...]:
    return tuple(_Field(fact, tuple(paths.split()), convert) for fact, paths, convert in rows)


_POWER_LIMIT = (
    "gpu_power_readings/current_power_limit",
    "gpu_power_readings/power_limit",
    "power_readings/enforced_power_limit",
    "power_readings/power_limit",
)

_FIELDS = _fields(
    [
        ("architecture", "product_architecture", clean),
        ("vbios_version", "vbios_version", clean),
        ("pci_bus_id", "pci/pci_bus_id", clean),
        ("pci_device_id", "pci/pci_device_id", _hexadecimal),
        ("pci_subsystem_id", "pci/pci_sub_system_id", _hexadecimal),
        ("addressing_mode", "addressing_mode", clean),
        ("persistence_mode", "persistence_mode", _on),
        ("ecc", "ecc_mode/current_ecc", _on),
        ("mig_mode", "mig_mode/current_mig", _lower),
        ("virtualization_mode", "gpu_virtualization_mode/virtualization_mode", _lower),
        ("compute_mode", "compute_mode", _lower),
        ("driver_model", "driver_model/current_dm", clean),
        ("memory_reserved_bytes", "fb_memory_usage/reserved", _bytes),
        ("power_limit_w", " ".join(_POWER_LIMIT), _number),
        (
            "power_default_limit_w",
            "gpu_power_readings/default_power_limit power_readings/default_power_limit",
            _number,
        ),
        ("power_max_limit_w", "gpu_power_readings/max_power_limit power_readings/max_power_limit", _number),
        ("sm_clock_max_hz", "max_clocks/sm_clock", _number),
        ("memory_clock_max_hz", "max_clocks/mem_clock", _number),
        (
            "pcie_generation",
            "pci/pci_gpu_link_info/pcie_gen/current_link_gen pci/pci_gpu_link_info/pcie_gen/device_current_link_gen",
            _whole_number,
        ),
        ("pcie_width", "pci/pci_gpu_link_info/link_widths/current_link_width", _whole_number),
        ("pcie_generation_max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen", _whole_number),
        ("pcie_width_max", "pci/pci_gpu_link_info/link_widths/max_link_width", _whole_number),
    ]
)

IMPORTER = Importer(KIND, "nvidia-smi -q -x", find_nvidia_smi_xml, read_nvidia_smi_xml)
