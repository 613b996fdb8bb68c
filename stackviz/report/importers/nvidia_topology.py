"""`nvidia-smi topo -m` -> how the cards are linked. The legend under it is passed over."""

import re

from stackviz.report.format import LIMITS
from stackviz.report.importers.blocks import blocks_after
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading

__all__ = ["IMPORTER", "read_topology"]

KIND = "nvidia-smi-topo"

_HEAD = re.compile(r"^[ \t]{0,40}GPU0(?=[ \t]{1,12}(?:GPU1|NIC0|mlx|CPU Aff))[^\n]{0,4000}$", re.MULTILINE)
_ROW = re.compile(r"[ \t]{0,8}(GPU|NIC|mlx)(\d{1,3})\S{0,12}(?:\s|$)")
_ROW_OR_LEGEND = re.compile(
    _ROW.pattern + r"|\s{0,40}(?:NIC )?Legend:|\s{1,4}(?:X|SYS|NODE|PHB|PXB|PIX|NV#)\s{1,8}= |\s{1,4}NIC\d{1,3}: "
)
_REFUSED = re.compile(r"ERROR: Option -m is missing its value\. Please run 'nvidia-smi -h' for help\.")
_LINK = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|PSB|SOC|NV\d{1,3}|N/A|ERR!")
_MOST_GPUS = 64
_MOST_LINES = 300


def find_topology(text: str) -> list[Span]:
    """Messages of a build without the option, and tables with the legend below them."""
    refused = [Span(*match.span()) for match in _REFUSED.finditer(text)]
    return sorted(refused + blocks_after(_HEAD, _ROW_OR_LEGEND, text, anchor="GPU0"))


def read_topology(text: str) -> Reading:
    """Never raises. Links are stated once for each pair of cards."""
    reading = Reading(kind=KIND)
    if _REFUSED.search(text) and not _HEAD.search(text):
        reading.sheet.mark_missing("nvidia.topology", "not_supported", "this nvidia-smi has no option -m")
        reading.problem("this nvidia-smi does not support topo -m (builds for Windows lack it)")
        return reading
    head = _HEAD.search(text)
    rows = _rows(text[head.start() :] if head else text)
    cards = sum(name.startswith("GPU") and name[3:].isdecimal() for name in head[0].split()) if head else len(rows)
    reading.sheet.state("nvidia.card_count", cards or None)
    _state_links(reading, rows, cards)
    return reading


def _rows(text: str) -> dict[int, list[str]]:
    rows: dict[int, list[str]] = {}
    for line in text.split("\n", _MOST_LINES)[1:_MOST_LINES]:
        match = _ROW.match(line[:4000])
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


IMPORTER = Importer(
    kind=KIND,
    tool="nvidia-smi topo -m",
    tells="links between cards",
    trust=84,
    find=find_topology,
    marks=("GPU0", "ERROR: Option -m is missing"),
    read=read_topology,
    command="nvidia-smi",
)
