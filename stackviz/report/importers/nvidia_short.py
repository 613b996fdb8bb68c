"""Read the short outputs of NVIDIA's tools: `nvidia-smi -L`, `--version` and `topo -m`, and `nvcc --version`.

The legend under the links of `topo -m` is skipped.
"""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.importer import Importer, Span, blocks_after
from stackviz.report.importers.nvidia_values import add_card, instance_of, new_card, note_cut, state_driver, value
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


TOPOLOGY_KIND = "nvidia-smi-topo"

_HEAD = re.compile(r"^[ \t]{0,40}GPU0(?=[ \t]{1,12}(?:GPU1|NIC0|mlx|CPU Aff))[^\n]{0,4000}$", re.MULTILINE)
_TOPOLOGY_ROW = re.compile(r"[ \t]{0,8}(GPU|NIC|mlx)(\d{1,3})\S{0,12}(?:\s|$)")
_ROW_OR_LEGEND = re.compile(
    _TOPOLOGY_ROW.pattern
    + r"|\s{0,40}(?:NIC )?Legend:|\s{1,4}(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s{1,8}= |\s{1,4}NIC\d{1,3}: "
)
_REFUSED = re.compile(r"ERROR: Option -m is missing its value\. Please run 'nvidia-smi -h' for help\.")
_LINK = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|PSB|SOC|NV\d{1,3}|N/A|ERR!")
_MOST_GPUS = 64
_MOST_TOPOLOGY_LINES = 300


def find_topology(text: str) -> list[Span]:
    """Messages of a build without the option, and tables with the legend below them."""
    refused = [Span(*match.span()) for match in _REFUSED.finditer(text)]
    return sorted(refused + blocks_after(_HEAD, _ROW_OR_LEGEND, text, anchor="GPU0"))


def read_topology(text: str) -> Reading:
    """Never raises. Links are stated once for each pair of cards."""
    reading = Reading(kind=TOPOLOGY_KIND)
    if _REFUSED.search(text) and not _HEAD.search(text):
        reading.sheet.mark_missing("nvidia.topology", "not_supported", "this nvidia-smi has no option -m")
        reading.problem("this nvidia-smi does not support topo -m (builds for Windows lack it)")
        return reading
    head = _HEAD.search(text)
    rows = _topology_rows(text[head.start() :] if head else text)
    cards = sum(name.startswith("GPU") and name[3:].isdecimal() for name in head[0].split()) if head else len(rows)
    reading.sheet.state("nvidia.card_count", cards or None)
    _state_links(reading, rows, cards)
    return reading


def _topology_rows(text: str) -> dict[int, list[str]]:
    rows: dict[int, list[str]] = {}
    for line in text.split("\n", _MOST_TOPOLOGY_LINES)[1:_MOST_TOPOLOGY_LINES]:
        match = _TOPOLOGY_ROW.match(line[:4000])
        if match and match[1] == "GPU" and len(rows) < _MOST_GPUS:
            rows.setdefault(int(match[2]), line[:4000].split()[1:])
    return rows


def _state_links(reading: Reading, rows: dict[int, list[str]], cards: int) -> None:
    links = [
        f"{index}-{other}:{cells[other]}"
        for index, cells in sorted(rows.items())
        for other in range(index + 1, min(cards, len(cells)))
        if _LINK.fullmatch(cells[other])
    ]
    if len(rows) < cards:
        reading.problem(f"{cards} cards in the head, {len(rows)} rows")
    if not links:
        reading.sheet.mark_missing(
            "nvidia.topology", "not_applicable" if cards == 1 else "not_reported", f"{cards} cards"
        )
        return
    text = " ".join(links)
    if len(text) > LIMITS.string_chars:
        text = text[: text.rfind(" ", 0, LIMITS.string_chars)]
        reading.problem("more links than a report can have; the first were read")
    reading.sheet.state("nvidia.topology", text)


TOPOLOGY_IMPORTER = Importer(
    kind=TOPOLOGY_KIND,
    tool="nvidia-smi topo -m",
    tells="links between cards",
    trust=84,
    find=find_topology,
    marks=("GPU0", "ERROR: Option -m is missing"),
    read=read_topology,
    command="nvidia-smi",
)
