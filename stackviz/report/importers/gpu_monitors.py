"""Monitors over nvidia-smi: gpustat and nvitop; and the head line of nvidia-smi without its table.

Formats: gpustat/core.py and nvitop/gui of the projects; https://docs.nvidia.com/deploy/nvidia-smi/index.html.
"""

import re

from stackviz.report.importers.importer import Importer, Span, blocks_after, runs_of
from stackviz.report.importers.nvidia_values import add_card, new_card, state_driver
from stackviz.report.importers.reading import CardReading, Reading

__all__ = ["GPUSTAT", "NVITOP"]

_VERSION = r"\d{3}\.\d{1,3}(?:\.\d{1,3})?"

# ---- gpustat --------------------------------------------------------------------------------------------------------

_GPUSTAT = re.compile(
    rf"^(?:[\w.-]{{1,80}} {{1,20}}[A-Z][a-z]{{2}} [^\n]{{10,40}}? {{1,4}}(?P<driver>{_VERSION})"
    r"|\[(?P<index>\d{1,3})\] (?P<name>[^|\n]{2,120}?) {1,20}\| {0,4}(?P<heat>\d{1,3})(?:°C|'C"
    r"|C), {0,4}(?P<busy>\d{1,3}) %"
    r"(?:, {0,4}(?P<power>\d{1,5}) {0,4}/ {0,4}(?P<limit>\d{1,5}) W)? "
    r"\| {0,8}(?P<used>\d{1,8}) {0,4}/ {0,4}(?P<total>\d{1,8}) MB"
    r"[^\n]{0,400})$",
    re.MULTILINE,
)


def find_gpustat(text: str) -> list[Span]:
    if " MB" not in text or " | " not in text:
        return []
    return [span for span in runs_of(_GPUSTAT, text) if "] " in text[span.start : span.end]]


def read_gpustat(text: str) -> Reading:
    """Never raises. MB are MiB there."""
    reading = Reading(kind="gpustat")
    for match in list(_GPUSTAT.finditer(text))[:256]:
        if match["driver"]:
            state_driver(reading, match["driver"], None)
            continue
        card = new_card(int(match["index"]), match["name"], int(match["total"]) * 2**20)
        card.sheet.state("temperature_c", float(match["heat"]))
        card.sheet.state("busy_ratio", int(match["busy"]) / 100)
        card.sheet.state("memory_used_bytes", int(match["used"]) * 2**20)
        card.sheet.state("power_w", float(match["power"]) if match["power"] else None)
        card.sheet.state("power_limit_w", float(match["limit"]) if match["limit"] else None)
        add_card(reading, card)
    return reading


GPUSTAT = Importer(
    kind="gpustat",
    tool="gpustat",
    tells="driver, cards with memory, load and temperature",
    trust=68,
    find=find_gpustat,
    read=read_gpustat,
    command="gpustat",
)

# ---- nvitop, and the head line alone --------------------------------------------------------------------------------

_HEAD = re.compile(
    rf"^[ \t]{{0,8}}[│|]? ?(?:NVITOP (?P<nvitop>\d[\w.+-]{{0,30}})|NVIDIA-SMI (?P<smi>{_VERSION})) {{1,30}}"
    rf"(?:Driver|KMD) Version: {{1,4}}(?P<driver>{_VERSION}|N/A)(?: {{1,30}}CUDA (?:Driver |UMD )?Version: {{1,4}}"
    r"(?P<cuda>\d{1,2}\.\d{1,2}|N/A|ERR!))?[^\n]{0,40}$",
    re.MULTILINE,
)
_INSIDE = re.compile(r"[ \t]{0,8}[│├╞╘╒╤╧╪┼┴┬┤╡╰╭|+]")
_CARD = re.compile(
    r"│ {1,4}(?P<index>\d{1,3}) {1,4}(?P<name>[A-Za-z][^│\n]{2,60}?) {1,20}(?:On|Off|N/A|WDDM"
    r"|TCC) {0,4}│"
)
_MEMORY = re.compile(
    r"│ {1,4}(?P<used>\d[\d.]{0,8})(?P<used_unit>[MG])iB / (?P<total>\d{1,8}(?:\.\d{1,4})?)(?P<unit>[MG])iB"
)
_UNITS = {"M": 2**20, "G": 2**30}
_SECOND_ROW = re.compile(
    r"│[^│\n]{0,24}?\b(?P<heat>\d{1,3})C {1,8}P\d{1,2} {1,10}(?P<power>\d{1,5})W / {0,4}(?P<limit>\d{1,5})W {0,6}"
    r"│[^│\n]{0,40}│ {1,12}(?P<busy>\d{1,3})%"
)


def find_nvitop(text: str) -> list[Span]:
    if "NVITOP" in text:
        return blocks_after(_HEAD, _INSIDE, text, anchor="Version")
    return [Span(*match.span()) for match in _HEAD.finditer(text)][:16] if "NVIDIA-SMI" in text else []


def read_nvitop(text: str) -> Reading:
    """Never raises. Names and memory stand on two lines of a card; so does its load, where each card states it."""
    reading = Reading(kind="nvitop")
    head = _HEAD.match(text)
    if head:
        values = {name: head[name] for name in ("driver", "cuda")}
        state_driver(reading, *(value if value and value[0].isdigit() else None for value in values.values()))
    sizes, names = list(_MEMORY.finditer(text))[:64], list(_CARD.finditer(text))[:64]
    loads = list(_SECOND_ROW.finditer(text))[:64]
    for position, match in enumerate(names):
        size = sizes[position] if position < len(sizes) else None
        memory = int(float(size["total"]) * _UNITS[size["unit"]]) if size else None
        card = new_card(int(match["index"]), match["name"], memory)
        if size and len(sizes) == len(names):
            card.sheet.state("memory_used_bytes", _used_bytes(size))
        if len(loads) == len(names):
            _state_load(card, loads[position])
        add_card(reading, card)
    return reading


def _used_bytes(size: re.Match[str]) -> int | None:
    try:
        return int(float(size["used"]) * _UNITS[size["used_unit"]])
    except ValueError:  # 1..1
        return None


def _state_load(card: CardReading, load: re.Match[str]) -> None:
    card.sheet.state("temperature_c", float(load["heat"]))
    card.sheet.state("power_w", float(load["power"]))
    card.sheet.state("power_limit_w", float(load["limit"]))
    card.sheet.state("busy_ratio", int(load["busy"]) / 100)


NVITOP = Importer(
    kind="nvitop",
    tool="nvitop, the head of nvidia-smi",
    tells="driver, newest CUDA it supports, cards with memory, load, power and heat",
    trust=67,
    find=find_nvitop,
    read=read_nvitop,
    command="nvitop",
    yields=True,
)
