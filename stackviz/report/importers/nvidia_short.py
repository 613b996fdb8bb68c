"""The short outputs: `nvidia-smi -L`, `nvidia-smi --version` and `nvcc --version`."""

import re

from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.nvidia_card import add_card, instance_of, new_card, note_cut
from stackviz.report.importers.nvidia_values import state_driver, value
from stackviz.report.importers.reading import Reading

__all__ = ["LIST_IMPORTER", "NVCC_IMPORTER", "VERSION_IMPORTER"]

# ---- nvidia-smi -L --------------------------------------------------------------------------------------------------

_CARD = re.compile(r"[ \t]{0,8}GPU (\d{1,3}): ([^\n(]{1,120}?) \(UUID: ?([^)\n]{0,80})\)")
_INSTANCE = re.compile(
    r"[ \t]{0,8}MIG (\d{1,2}[cg][\w.+]{1,24})\s{1,20}Device\s{1,4}\d{1,3}: \(UUID: ?([^)\n]{0,120})\)"
)
_LIST_LINE = re.compile(
    r"^(?:[ \t]{0,8}GPU \d{1,3}: [^\n(]{1,120} \(UUID: ?[^)\n]{0,80}\)[^\n]{0,20}\n?)", re.MULTILINE
)
_NO_UUID = re.compile(r"(?:GPU-|MIG-)?[0x?*.<>\[\]A-Za-z-]{0,80}$")
_MOST_LINES = 1_000


def find_list(text: str) -> list[Span]:
    spans: list[Span] = []
    for line in _LIST_LINE.finditer(text):
        end = _past_instances(text, line.end())
        if spans and spans[-1].end == line.start():
            spans[-1] = Span(spans[-1].start, end)
        elif not spans or line.start() >= spans[-1].end:
            spans.append(Span(line.start(), end))
    return spans


def _past_instances(text: str, at: int) -> int:
    while instance := _INSTANCE.match(text, at):
        end = text.find("\n", instance.end())
        at = end + 1 if end >= 0 else len(text)
    return at


def read_list(text: str) -> Reading:
    """Never raises. Instances follow the whole cards, each with its profile."""
    reading = Reading(kind="nvidia-smi-list")
    lines = text.split("\n", _MOST_LINES)[:_MOST_LINES]
    cards = [(at, card) for at, card in enumerate(map(_CARD.match, lines)) if card]
    for _at, card in cards:
        whole = new_card(int(card[1]), card[2].strip(), None, _uuid(card[3]))
        whole.sheet.mark_missing("memory_bytes", "not_reported", "nvidia-smi -L does not state it")
        add_card(reading, whole)
    parents = {at: position for position, (at, _card) in enumerate(cards) if position < len(reading.cards)}
    parent = None
    for at, line in enumerate(lines):
        parent = parents.get(at, parent)
        if parent is not None and (match := _INSTANCE.match(line)):
            instance = instance_of(reading.cards[parent], reading, None, _uuid(match[2]))
            instance.sheet.mark_missing("memory_bytes", "not_reported", "nvidia-smi -L does not state it")
            instance.sheet.state("mig_profile", match[1])
            add_card(reading, instance)
    reading.sheet.state("nvidia.card_count", len(cards) or None)
    note_cut(reading, len(cards))
    return reading


def _uuid(written: str) -> str | None:
    """None if it was masked: two masked cards are not the same card."""
    return None if _NO_UUID.match(written) or not re.search(r"[1-9a-f]", written[4:]) else written


LIST_IMPORTER = Importer(
    kind="nvidia-smi-list",
    tool="nvidia-smi -L",
    tells="cards and their instances",
    trust=88,
    find=find_list,
    marks=("(UUID:",),
    read=read_list,
    command="nvidia-smi",
)

# ---- nvidia-smi --version -------------------------------------------------------------------------------------------

_VERSION = re.compile(
    r"NVIDIA-SMI version\s{0,20}: ?\S[^\n]{0,40}"
    r"(?:\n(?:NVML|DRIVER|CUDA(?: UMD)?|KMD)(?: Driver)? [Vv]ersion\s{0,20}:[^\n]{0,60}){0,6}"
)
_LABEL = re.compile(
    r"^(NVML|DRIVER|KMD|CUDA(?: UMD)?)(?: Driver)? version\s{0,20}: ?(\S[^\n]{0,40})", re.MULTILINE | re.IGNORECASE
)


def find_version(text: str) -> list[Span]:
    return [Span(*match.span()) for match in _VERSION.finditer(text)]


def read_version(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind="nvidia-smi-version")
    values = {match[1].upper(): value(match[2]) for match in _LABEL.finditer(text[:2000])}
    state_driver(reading, values.get("DRIVER") or values.get("KMD"), values.get("CUDA") or values.get("CUDA UMD"))
    reading.sheet.state("nvidia.nvml_version", values.get("NVML"))
    return reading


VERSION_IMPORTER = Importer(
    kind="nvidia-smi-version",
    tool="nvidia-smi --version",
    tells="driver, NVML, newest CUDA",
    trust=86,
    find=find_version,
    marks=("NVIDIA-SMI version",),
    read=read_version,
    command="nvidia-smi",
)

# ---- nvcc --version -------------------------------------------------------------------------------------------------

_NVCC = re.compile(
    r"(?:nvcc: NVIDIA[^\n]{0,100}\n(?:[^\n]{0,160}\n){0,4}?)?"
    r"Cuda compilation tools, release (\d{1,3}\.\d{1,3})(?:, V(\d[\d.]{1,20}))?[^\n]{0,80}(?:\nBuild [^\n]{1,120})?"
)


def find_nvcc(text: str) -> list[Span]:
    return [Span(*match.span()) for match in _NVCC.finditer(text)] if "Cuda compilation tools" in text else []


def read_nvcc(text: str) -> Reading:
    """Never raises."""
    reading = Reading(kind="nvcc-version")
    match = _NVCC.search(text)
    if match is None:
        reading.sheet.mark_missing("cuda.toolkit_version", "not_reported", "nvcc names no release")
        return reading
    version = (match[2] or match[1]).rstrip(".")
    reading.sheet.state("cuda.toolkit_version", version)
    reading.add_software("cuda-toolkit", version, "nvcc")
    return reading


NVCC_IMPORTER = Importer(
    kind="nvcc-version",
    tool="nvcc --version",
    tells="the CUDA toolkit",
    trust=80,
    find=find_nvcc,
    read=read_nvcc,
    command="nvcc",
)
