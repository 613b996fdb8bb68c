"""`rocm-smi`: its table, and the lists of --showproductname, --showmeminfo and --showdriverversion -> cards."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = ["IMPORTER"]

KIND = "rocm-smi"

_TITLE = re.compile(r"^[ \t>]{0,8}=+ ?ROCm System Management Interface ?=+[ \t]*$", re.MULTILINE)
_END = re.compile(r"^[ \t>]{0,8}=+ ?End of ROCm SMI Log ?=+[ \t]*$", re.MULTILINE)
_ROW = re.compile(r"[ \t>]{0,8}(\d{1,3})[ \t]+(\S.*)$")
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
    return [_span(text, start, limit) for start, limit in pairwise([*starts, len(text)])]


def _span(text: str, start: int, limit: int) -> Span:
    end = _END.search(text, start, limit)
    return Span(start, end.end() if end else limit)


def read_rocm_smi(text: str) -> Reading:
    reading = Reading(kind=KIND)
    cards: dict[int, _CardLines] = {}
    columns: list[str] = []
    last: int | None = None
    for line in text.splitlines()[:20_000]:
        listed, row, name = _LIST.match(line[:400]), _ROW.match(line[:400]), _NAME.match(line[:400])
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
    _read(reading, cards)
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


def _read(reading: Reading, cards: dict[int, _CardLines]) -> None:
    reading.sheet.state("os.name", "Linux")
    reading.sheet.mark_missing("os.version", "not_reported", "rocm-smi names no distribution")
    reading.sheet.mark_missing("rocm.version", "not_reported", "rocm-smi does not state it")
    reading.add_software("rocm", None, "rocm-smi")
    for index, lines in list(cards.items())[: LIMITS.cards]:
        reading.cards.append(_card(index, lines).card())
    if not cards:
        reading.problem("no card in the table")


def _card(index: int, lines: _CardLines) -> CardReading:
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


IMPORTER = Importer(
    kind=KIND,
    tool="rocm-smi",
    tells="AMD cards, their power and load; names and memory if requested",
    trust=76,
    find=find_rocm_smi,
    marks=("ROCm System Management Interface",),
    read=read_rocm_smi,
    command="rocm-smi",
)
