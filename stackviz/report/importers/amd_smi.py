"""`amd-smi`: the lists of static, list and version, and the table that it prints without arguments since ROCm 7.

Format: https://rocm.docs.amd.com/projects/amdsmi/en/latest/how-to/amdsmi-cli-tool.html.
"""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.blocks import blocks_after
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = ["IMPORTER"]

KIND = "amd-smi"

_HEAD = re.compile(
    r"^[ \t]{0,8}(?:\|? ?AMD-SMI \d[\w.+-]{0,60}[^\n]{0,120}|AMDSMI Tool: [^\n]{3,200}"
    r"|GPU: \d{1,3})[ \t]*$",
    re.MULTILINE,
)
_INSIDE = re.compile(
    r"[ \t]{0,8}(?:[|+]|GPU: \d{1,3}[ \t]*$|[ \t]{3,16}(?:[A-Z][A-Z0-9_ ]{1,60}|CACHE_\d{1,2}|[A-Z]+_\w{1,40}):"
    r"|AMD-SMI)"
)
_VERSIONS = re.compile(r"amdgpu version: {0,4}(\S{3,40})|ROCm version: {0,4}(\d[\w.-]{1,30})")
_GPU = re.compile(r"^[ \t]{0,8}GPU: (\d{1,3})[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]{2,24}([A-Z][A-Z0-9_]{1,60}): {0,4}([^\n]{0,200})$", re.MULTILINE)
_ROW = re.compile(r"^\| {0,4}(?P<bdf>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) {1,20}(?P<name>[^"
                  r"|\n]{2,80}?) {0,20}\|(?P<rest>[^|\n]{0,120})\|[ \t]*$",
                  re.MULTILINE)  # fmt: skip
_USED = re.compile(r"(\d{1,8})/(\d{1,8}) MB")


def find_amd_smi(text: str) -> list[Span]:
    if not any(mark in text for mark in ("AMD-SMI", "AMDSMI Tool", "GPU: ")):
        return []
    spans = blocks_after(_HEAD, _INSIDE, text)
    return [span for span in spans if _is_amd(text[span.start : span.end])]


def _is_amd(text: str) -> bool:
    return (
        "AMD-SMI" in text
        or "AMDSMI" in text
        or bool(re.search(r"^[ \t]{2,16}(?:ASIC|BUS|BDF|VRAM|DRIVER):", text, re.MULTILINE))
    )


def read_amd_smi(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind=KIND)
    for driver, rocm in _VERSIONS.findall(text)[:8]:
        reading.sheet.state("rocm.version", rocm or None)
        if rocm:
            reading.add_software("rocm", rocm, "amd-smi")
        if driver:
            reading.add_software("amdgpu-driver", driver, "amd-smi")
    reading.sheet.mark_missing("rocm.version", "not_reported", "this form of amd-smi does not state it")
    if re.search(r"Platform: Linux", text):
        reading.sheet.state("os.name", "Linux")
    starts = list(_GPU.finditer(text))[: LIMITS.cards]
    for number, match in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        _add_listed(reading, int(match[1]), text[match.end() : end])
    for match in list(_ROW.finditer(text))[: LIMITS.cards]:
        _add_row(reading, match, text)
    return reading


def _add_listed(reading: Reading, index: int, part: str) -> None:
    """One card of `amd-smi static`; `amd-smi list` names none, only its place."""
    values: dict[str, str] = {}
    for match in list(_FIELD.finditer(part))[:400]:
        if match[2].strip():
            values.setdefault(match[1], clean(match[2]))
    name = values.get("MARKET_NAME", "")
    target = values.get("TARGET_GRAPHICS_VERSION", "")
    if not name or name == "N/A" or any(card.index == index for card in reading.cards):
        return
    card = CardReading(index=index, kind="gpu", vendor="amd", reported_name=name)
    size = re.match(r"(\d{1,8}) MB", values.get("SIZE", ""))
    card.memory_bytes = int(size[1]) * 2**20 if size else None
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", "not_reported", "this part of amd-smi does not state it")
    card.sheet.state("gfx_target", target if target.startswith("gfx") else None)
    units = values.get("NUM_COMPUTE_UNITS", "")
    card.sheet.state("multiprocessors", int(units) if units.isdigit() and int(units) else None)
    device = re.fullmatch(r"0x([0-9a-fA-F]{4})", values.get("DEVICE_ID", ""))
    card.sheet.state("pci_device_id", f"0x{device[1].upper()}1002" if device else None)
    driver = re.search(r"DRIVER:[ \t]*\n(?:[ \t]+[A-Z_]+:[^\n]*\n){0,3}?[ \t]+VERSION: (\S{2,40})", part)
    if driver:
        reading.add_software("amdgpu-driver", driver[1], "amd-smi")
    reading.cards.append(card.card())


def _add_row(reading: Reading, match: re.Match[str], text: str) -> None:
    """A card of the table: its name in the first of two rows, its memory in the second."""
    if len(reading.cards) >= LIMITS.cards:
        return
    card = CardReading(index=len(reading.cards), kind="gpu", vendor="amd", reported_name=match["name"].strip())
    second = text[match.end() : match.end() + 200].lstrip("\n").partition("\n")[0]
    used = _USED.search(second)
    if used:
        card.memory_bytes = int(used[2]) * 2**20
        card.sheet.state("memory_used_bytes", int(used[1]) * 2**20)
    else:
        card.sheet.mark_missing("memory_bytes", "not_reported", "amd-smi states N/A")
    power = re.search(r"(\d{1,5})/(\d{1,5}) W", match["rest"])
    card.sheet.state("power_w", float(power[1]) if power else None)
    card.sheet.state("power_limit_w", float(power[2]) if power else None)
    heat = re.search(r"(\d{1,3}) °?C\b", match["rest"])
    card.sheet.state("temperature_c", float(heat[1]) if heat else None)
    card.sheet.state("pci_bus_id", f"0000{match['bdf'].upper()}")
    reading.cards.append(card.card())


IMPORTER = Importer(
    kind=KIND,
    tool="amd-smi",
    tells="ROCm, driver, AMD cards with memory and target",
    trust=77,
    find=find_amd_smi,
    read=read_amd_smi,
    command="amd-smi",
)
