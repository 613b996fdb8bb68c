"""`rocminfo` -> AMD cards with their memory and what kernels are built for, and the processor."""

import re
from itertools import pairwise

from stackviz.report.format import LIMITS, hashed_uuid
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import CardReading, Reading, clean

__all__ = ["IMPORTER"]

KIND = "rocminfo"

_START = re.compile(
    r"^[ \t>]{0,8}(?:ROCk module\b[^\n]*|WSL environment detected\.?|HSA System Attributes)[ \t]*$", re.MULTILINE
)
_DONE = "*** Done ***"
_AGENT = re.compile(r"^[ \t>]{0,8}Agent (\d{1,4})[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"[ \t>]{0,60}([A-Za-z][\w .()/-]{0,60}?)[ \t]*:+[ \t]*(.{0,300}?)[ \t]*$")
_SIZE = re.compile(r"(\d{1,15})\(0x[0-9a-fA-F]+\) KB")


def find_rocminfo(text: str) -> list[Span]:
    spans: list[Span] = []
    for match in _START.finditer(text):
        if (spans and match.start() < spans[-1].end) or "HSA" not in text[match.start() : match.start() + 400]:
            continue
        done = text.find(_DONE, match.start())
        spans.append(Span(match.start(), done + len(_DONE) if done >= 0 else _end_of_lines(text, match.start())))
        if len(spans) == 16:
            break
    return spans


def _end_of_lines(text: str, at: int) -> int:
    """Where no line of the kind comes any more, for a dump that was cut."""
    end = at
    while at < len(text):
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line = text[at : min(line_end, at + 400)]
        if line.strip(" \t*=>") and not (
            _FIELD.match(line) or _AGENT.match(line) or _START.match(line) or "HSA" in line
        ):
            break
        end = line_end if line.strip() else end
        at = line_end + 1
    return end


def read_rocminfo(text: str) -> Reading:
    reading = Reading(kind=KIND)
    reading.sheet.state("os.name", "Linux")
    reading.sheet.mark_missing("os.version", "not_reported", "rocminfo names no distribution")
    if text.lstrip(" >\t").startswith("WSL environment"):
        reading.sheet.state("os.wsl", "2")
    reading.sheet.mark_missing("rocm.version", "not_reported", "rocminfo states the version of HSA, not of ROCm")
    reading.add_software("rocm", None, "rocminfo")
    driver = re.search(r"ROCk module version (\d[\w.-]{0,40}) is loaded", text[:4000])
    if driver:
        reading.add_software("amdgpu-driver", driver[1], "rocminfo")
    agents = [_agent(part) for part in _parts(text)]
    _read_processors(reading, [agent for agent in agents if agent.get("Device Type") == "CPU"])
    for agent in [agent for agent in agents if agent.get("Device Type") == "GPU"][: LIMITS.cards]:
        reading.cards.append(_card(len(reading.cards), agent).card())
    if not agents:
        reading.problem("no agent is listed")
    return reading


def _parts(text: str) -> list[str]:
    starts = [match.end() for match in _AGENT.finditer(text)][: 4 * LIMITS.cards]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def _agent(part: str) -> dict[str, str]:
    """The first of each label counts: later ones are of pools and instruction sets. Memory: the first global pool."""
    values: dict[str, str] = {}
    for line in part.splitlines()[:2_000]:
        match = _FIELD.match(line[:400])
        if match:
            values.setdefault(match[1], clean(match[2]))
    pool = re.search(r"Segment:\s+GLOBAL[^\n]*\n\s*Size:\s+" + _SIZE.pattern, part)
    if pool:
        values["memory"] = pool[1]
    return values


def _read_processors(reading: Reading, agents: list[dict[str, str]]) -> None:
    """An agent is a NUMA node: a whole socket where it has as many threads as the model's name has cores, or more."""
    if not agents:
        return
    model = agents[0].get("Marketing Name") or agents[0].get("Name")
    reading.sheet.state("cpu.model", model)
    threads = [_count(agent.get("Compute Unit")) or 0 for agent in agents]
    if all(threads):
        reading.sheet.state("cpu.cores_logical", sum(threads))
        cores = re.search(r"\b(\d{1,3})-Core\b", model or "")
        reading.sheet.state("cpu.sockets", len(agents) if cores and min(threads) >= int(cores[1]) else None)


def _card(index: int, agent: dict[str, str]) -> CardReading:
    target = agent.get("Name", "")
    card = CardReading(
        index=index, kind="gpu", vendor="amd", reported_name=agent.get("Marketing Name") or target or "unnamed"
    )
    memory = _count(agent.get("memory"))
    card.memory_bytes = memory * 1024 if memory else None
    if card.memory_bytes is None:
        card.sheet.mark_missing("memory_bytes", "not_reported", "rocminfo lists no memory pool")
    uuid = agent.get("Uuid", "")
    card.uuid_hash = hashed_uuid(uuid) if re.fullmatch(r"GPU-[0-9a-fA-F]{8,40}", uuid) else None
    card.sheet.state("gfx_target", target if target.startswith("gfx") else None)
    card.sheet.state("multiprocessors", _count(agent.get("Compute Unit")))
    clock = _count(agent.get("Max Clock Freq. (MHz)"))
    card.sheet.state("sm_clock_max_hz", clock * 1_000_000 if clock else None)
    chip = re.search(r"\(0x([0-9a-fA-F]{4})\)", agent.get("Chip ID", ""))
    card.sheet.state("pci_device_id", f"0x{chip[1].upper()}1002" if chip else None)
    return card


def _count(written: str | None) -> int | None:
    match = re.match(r"\d{1,15}", written or "")
    return int(match[0]) or None if match else None


IMPORTER = Importer(
    kind=KIND,
    tool="rocminfo",
    tells="AMD cards with memory and target, processor",
    trust=78,
    find=find_rocminfo,
    marks=("ROCk module", "WSL environment detected", "HSA System Attributes"),
    read=read_rocminfo,
    command="rocminfo",
)
