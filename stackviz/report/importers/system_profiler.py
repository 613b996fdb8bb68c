"""`system_profiler -json SPHardwareDataType SPDisplaysDataType SPSoftwareDataType` -> facts and cards of a Mac.

Serial number, UUIDs, host and user name in it are not read. Sizes it prints as GB are GiB. The text that it prints
without -json says the same in other words: system_profiler_text.py puts it under the names used here.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading, clean, vendor_of

__all__ = ["IMPORTER", "SECTIONS", "read_sections", "read_system_profiler"]

KIND = "system-profiler-json"

_MOST_CHARS = 4 * 1024 * 1024
_MOST_DOCUMENTS = 16
SECTIONS = ("SPHardwareDataType", "SPDisplaysDataType", "SPSoftwareDataType")
_METAL = {
    "spdisplays_metal4": "Metal 4",
    "spdisplays_metal3": "Metal 3",
    "spdisplays_metalfeaturesetfamily11": "Metal GPUFamily macOS 1",
    "spdisplays_metalfeaturesetfamily21": "Metal GPUFamily macOS 2",
}
_BYTES = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


def find_system_profiler(text: str) -> list[Span]:
    """Find each whole document: several Macs may follow one another."""
    spans: list[Span] = []
    for _ in range(_MOST_DOCUMENTS):
        at = spans[-1].end if spans else 0
        named = [position for section in SECTIONS if (position := text.find(f'"{section}"', at)) >= 0]
        start = text.rfind("{", at, min(named)) if named else -1
        if start < 0:
            break
        spans.append(Span(start, _end_of_document(text, start, min(named))))
    return spans


def _end_of_document(text: str, start: int, inside: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(text[: start + _MOST_CHARS], start)[1]
    except (ValueError, RecursionError):
        return max(text.rfind("}") + 1, inside + 1)


def read_system_profiler(text: str) -> Reading:
    """Never raises; `problems` says why nothing was read."""
    reading = Reading(kind=KIND)
    read_sections(reading, _sections(text, reading))
    return reading


def read_sections(reading: Reading, sections: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    """What the sections of one Mac tell, under the names they have in the JSON."""
    for hardware in sections["SPHardwareDataType"][:1]:
        _read_hardware(reading, hardware)
    for software in sections["SPSoftwareDataType"][:1]:
        _read_software(reading, software)
    for number, display in enumerate(sections["SPDisplaysDataType"][: LIMITS.cards]):
        _read_display(reading, number, display)


def _sections(text: str, reading: Reading) -> dict[str, list[dict[str, Any]]]:
    document: object = None
    if len(text) > _MOST_CHARS:
        reading.problem(f"longer than {_MOST_CHARS} characters")
    else:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            reading.problem(f"not JSON: {error}")
    sections = document if isinstance(document, dict) else {}
    items = {name: sections.get(name) for name in SECTIONS}
    return {
        name: [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        for name, listed in items.items()
    }


def _read_hardware(reading: Reading, hardware: dict[str, Any]) -> None:
    sheet = reading.sheet
    chip = _text(hardware.get("chip_type"))
    sheet.state("machine.vendor", "Apple")
    sheet.state("machine.model", _text(hardware.get("machine_model")))
    sheet.state("memory.total_bytes", _size(hardware.get("physical_memory")))
    sheet.state("cpu.model", chip or _text(hardware.get("cpu_type")))
    if chip:
        sheet.state("apple.chip", chip)
    else:
        sheet.mark_missing("apple.chip", "not_applicable", "not an Apple chip")
    _read_cores(reading, hardware.get("number_processors"), is_intel="packages" in hardware)
    reading.sheet.state("cpu.sockets", _count(hardware.get("packages")))


def _read_cores(reading: Reading, written: object, *, is_intel: bool) -> None:
    """`proc 16:12:4` is total, performance, efficiency; from macOS 26 `proc 18:6:0:12` is total, super, efficiency,
    performance, super being the largest kind there. Intel Macs write the number of cores alone."""
    sheet = reading.sheet
    if is_intel:
        sheet.state("cpu.cores_physical", _count(written))
        return
    counts = [int(part) for part in re.findall(r"\d{1,4}", _text(written) or "")] if isinstance(written, str) else []
    if len(counts) < 3:
        return
    total, largest, *smaller = counts
    sheet.state("cpu.cores_physical", total)
    sheet.state("cpu.cores_logical", total)
    sheet.state("apple.cpu_p_cores", largest)
    sheet.state("apple.cpu_e_cores", sum(smaller))


def _read_software(reading: Reading, software: dict[str, Any]) -> None:
    match = re.match(r"(macOS|Mac OS X|OS X)\s+([\d.]+)(?:\s+\((\w+)\))?", _text(software.get("os_version")) or "")
    if match:
        reading.sheet.state("os.name", "macOS")
        reading.sheet.state("os.version", match[2])
        reading.sheet.state("os.build", match[3])
        reading.add_software("macos", match[2], "system_profiler")
    reading.sheet.state("os.kernel", _text(software.get("kernel_version")))


def _read_display(reading: Reading, number: int, display: dict[str, Any]) -> None:
    name = _text(display.get("sppci_model")) or _text(display.get("_name"))
    if not name:
        reading.problem(f"display {number} has no model")
        return
    vendor = vendor_of(f"{_text(display.get('spdisplays_vendor')) or ''} {name}")
    is_apple = vendor == "apple"
    card = CardReading(index=number, kind="soc" if is_apple else "gpu", vendor=vendor, reported_name=name)
    metal = _metal(display)
    card.sheet.state("metal_family", metal)
    is_shared = "spdisplays_vram_shared" in display
    card.sheet.state("unified_memory", is_apple or is_shared)
    if is_apple:
        card.sheet.state("gpu_cores", _count(display.get("sppci_cores")))
        reading.sheet.state("apple.gpu_cores", _count(display.get("sppci_cores")))
    elif not is_shared:
        card.memory_bytes = _size(display.get("spdisplays_vram"))
    if is_apple or is_shared:
        card.sheet.mark_missing("memory_bytes", "not_applicable", "the GPU uses the machine's memory")
    if metal:
        reading.sheet.state("apple.metal_family", metal)
        reading.add_software("metal", metal, "system_profiler")
    reading.cards.append(card.card())


def _metal(display: dict[str, Any]) -> str | None:
    written = _text(display.get("spdisplays_mtlgpufamilysupport")) or _text(display.get("spdisplays_metal"))
    if not written:
        return None
    family = re.fullmatch(r"spdisplays_mtlgpufamily(apple|mac)(\d{1,2})", written.lower())
    if family:
        return f"Metal GPUFamily {'Apple' if family[1] == 'apple' else 'macOS'} {family[2]}"
    return _METAL.get(written, written.removeprefix("spdisplays_"))


def _text(value: object) -> str | None:
    return clean(value) or None if isinstance(value, str) else None


def _count(value: object) -> int | None:
    text = str(value) if isinstance(value, int | str) else ""
    return int(text) if re.fullmatch(r"\d{1,6}", text) else None


def _size(value: object) -> int | None:
    match = re.match(r"(\d{1,6}(?:\.\d{1,3})?)\s*(KB|MB|GB|TB)", _text(value) or "")
    return int(float(match[1]) * _BYTES[match[2]]) if match else None


IMPORTER = Importer(
    kind=KIND,
    tool="system_profiler -json",
    tells="a Mac: chip, memory, Metal, macOS",
    trust=98,
    find=find_system_profiler,
    read=read_system_profiler,
    command="system_profiler",
)
