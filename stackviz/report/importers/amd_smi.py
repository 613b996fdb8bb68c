"""`amd-smi`: the lists of static, list and version, and the table that it prints without arguments since ROCm 7.

Format: https://rocm.docs.amd.com/projects/amdsmi/en/latest/how-to/amdsmi-cli-tool.html.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span, blocks_after
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


ROCM_SMI_KIND = "rocm-smi"

_TITLE = re.compile(r"^[ \t>]{0,8}=+ ?ROCm System Management Interface ?=+[ \t]*$", re.MULTILINE)
_END = re.compile(r"^[ \t>]{0,8}=+ ?End of ROCm SMI Log ?=+[ \t]*$", re.MULTILINE)
_ROCM_ROW = re.compile(r"[ \t>]{0,8}(\d{1,3})[ \t]+(\S.*)$")
_NAME = re.compile(r"[ \t>]{0,8}\s{4,}(\S[^=]{2,60}?)\s*$")
_LIST = re.compile(r"[ \t>]{0,8}GPU\[(\d{1,3})\][ \t]*:[ \t]*([^:]{1,60}):[ \t]*(.{1,200})$")
_DRIVER = re.compile(r"[ \t>]{0,8}Driver version:[ \t]*(\S{1,40})", re.IGNORECASE)


@dataclass
class _CardLines:
    """What the lines say of one card."""

    name: str = ""
    values: dict[str, str] = field(default_factory=dict)


def find_rocm_smi(text: str) -> list[Span]:
    starts = [match.start() for match in _TITLE.finditer(text)][:64]
    return [_rocm_span(text, start, limit) for start, limit in pairwise([*starts, len(text)])]


def _rocm_span(text: str, start: int, limit: int) -> Span:
    end = _END.search(text, start, limit)
    return Span(start, end.end() if end else limit)


def read_rocm_smi(text: str) -> Reading:
    reading = Reading(kind=ROCM_SMI_KIND)
    cards: dict[int, _CardLines] = {}
    columns: list[str] = []
    last: int | None = None
    for line in text.splitlines()[:20_000]:
        listed, row, name = _LIST.match(line[:400]), _ROCM_ROW.match(line[:400]), _NAME.match(line[:400])
        if line.strip().startswith(("Device ", "GPU ")):
            columns = line.split()
        elif listed:
            cards.setdefault(int(listed[1]), _CardLines()).values.setdefault(
                listed[2].strip().lower(), listed[3].strip()
            )
        elif row and columns:
            last = int(row[1])
            _note_row(cards.setdefault(last, _CardLines()), columns, row[2])
        elif name and last is not None and name[1].strip() and not name[1].startswith("Name"):
            cards[last].name = cards[last].name or clean(name[1])
        elif driver := _DRIVER.match(line):
            reading.add_software("amdgpu-driver", driver[1], "rocm-smi")
    _read_cards(reading, cards)
    return reading


def _note_row(card: _CardLines, columns: list[str], rest: str) -> None:
    """Temperature, power and load stand under headings; their order changed over the years, their units did not."""
    temperature = re.search(r"(\d{1,3}(?:\.\d+)?)\s?°?[cC]\b", rest)
    powers = re.findall(r"(\d{1,4}(?:\.\d+)?)W\b", rest)
    device = re.search(r"\[?(0x[0-9a-fA-F]{4})\b", rest)
    card.values |= {"temperature": temperature[1]} if temperature else {}
    card.values |= {"power": powers[0]} if powers and re.search("Power|AvgPwr", " ".join(columns)) else {}
    card.values |= {"cap": powers[-1]} if len(powers) > 1 else {}
    card.values |= {"device id": device[1]} if device else {}
    percents = re.findall(r"(\d{1,3})%", rest)
    card.values |= {"busy": percents[-1]} if percents and columns[-1] == "GPU%" else {}


def _read_cards(reading: Reading, cards: dict[int, _CardLines]) -> None:
    reading.sheet.state("os.name", "Linux")
    reading.sheet.mark_missing("os.version", "not_reported", "rocm-smi names no distribution")
    reading.sheet.mark_missing("rocm.version", "not_reported", "rocm-smi does not state it")
    reading.add_software("rocm", None, "rocm-smi")
    for index, lines in list(cards.items())[: LIMITS.cards]:
        reading.cards.append(_rocm_card(index, lines).card())
    if not cards:
        reading.problem("no card in the table")


def _rocm_card(index: int, lines: _CardLines) -> CardReading:
    values = lines.values
    series = values.get("card series", "")
    name = lines.name or ("" if series.lower() in {"", "n/a"} else series) or values.get("card model", "")
    device = values.get("device id", "")
    memory = values.get("vram total memory (b)", "")
    card = CardReading(
        index=index, kind="gpu", vendor="amd", reported_name=name or (f"AMD device {device}" if device else "unnamed")
    )
    card.memory_bytes = int(memory) if re.fullmatch(r"\d{1,15}", memory) else None
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", "not_reported", "rocm-smi states only the share in use")
    used = values.get("vram total used memory (b)", "")
    card.sheet.state("memory_used_bytes", int(used) if re.fullmatch(r"\d{1,15}", used) else None)
    card.sheet.state("pci_device_id", f"0x{device[2:].upper()}1002" if device else None)
    gfx = values.get("gfx version", "")
    card.sheet.state("gfx_target", gfx if gfx.startswith("gfx") else None)
    for fact, key in (("temperature_c", "temperature"), ("power_w", "power"), ("power_limit_w", "cap")):
        card.sheet.state(fact, float(values[key]) if values.get(key) else None)
    card.sheet.state("busy_ratio", int(values["busy"]) / 100 if "busy" in values else None)
    return card


ROCM_SMI_IMPORTER = Importer(
    kind=ROCM_SMI_KIND,
    tool="rocm-smi",
    tells="AMD cards, their power and load; names and memory if requested",
    trust=76,
    find=find_rocm_smi,
    marks=("ROCm System Management Interface",),
    read=read_rocm_smi,
    command="rocm-smi",
)
