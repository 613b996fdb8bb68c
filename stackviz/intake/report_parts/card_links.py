"""How the cards of a machine are linked, as a matrix: read from the fact `nvidia.topology`. No queries.

What NV18, PIX, PXB, PHB, NODE and SYS stand for: the legend that `nvidia-smi topo -m` prints.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from stackviz.intake.report_parts.facts import Facts

__all__ = ["CardLinks", "card_links"]

MOST_CARDS = 16
_PAIR = re.compile(r"(\d{1,2})-(\d{1,2}):([A-Z0-9]{1,6})", re.ASCII)
_NVLINK = re.compile(r"NV(\d{1,2})", re.ASCII)
_LEVELS = {
    "PIX": _("one PCIe bridge"),
    "PXB": _("several PCIe bridges, but not the processor"),
    "PHB": _("the processor's PCIe host bridge"),
    "NODE": _("between host bridges of one NUMA node"),
    "SYS": _("between processors or NUMA nodes"),
}
"""Of PCIe, the closest first."""


@dataclass(frozen=True, slots=True)
class LinkCell:
    """A link between two cards, `NV18`; "" of a card with itself, "?" where the report does not say.

    `rank`: "nvlink", "fewer" for fewer NVLinks than the most between two cards of this machine, "pcie", or "".
    """

    text: str
    rank: str


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What links a card to each card of the machine."""

    card: int
    cells: tuple[LinkCell, ...]


@dataclass(frozen=True, slots=True)
class CardLinks:
    """All links; `legend`: (kind, what it stands for), the closest first; `more`: cards that are not shown."""

    rows: tuple[LinkRow, ...]
    legend: tuple[tuple[str, str], ...]
    more: int


def card_links(facts: Facts) -> CardLinks | None:
    """None where the report does not state how two cards are linked, or in words that are not NVIDIA's."""
    pairs = [_PAIR.fullmatch(part) for part in str(facts.get("nvidia.topology", "")).split()]
    if not pairs or not all(pairs):
        return None
    links = {frozenset((int(pair[1]), int(pair[2]))): pair[3] for pair in pairs if pair}
    cards = sorted({card for pair in links for card in pair})
    shown = cards[:MOST_CARDS]
    most = max((_nvlinks(kind) for kind in links.values()), default=0)

    def cell(first: int, second: int) -> LinkCell:
        kind = "" if first == second else links.get(frozenset((first, second)), "?")
        count = _nvlinks(kind)
        rank = ("nvlink" if count == most else "fewer") if count else "pcie" if kind in _LEVELS else ""
        return LinkCell(kind, rank)

    rows = tuple(LinkRow(first, tuple(cell(first, second) for second in shown)) for first in shown)
    kinds = {each.text for row in rows for each in row.cells}
    return CardLinks(rows, tuple(_legend(kinds)), len(cards) - len(shown))


def _nvlinks(kind: str) -> int:
    """How many NVLinks; 0 for another link."""
    nvlink = _NVLINK.fullmatch(kind)
    return int(nvlink[1]) if nvlink else 0


def _legend(kinds: set[str]) -> Iterator[tuple[str, str]]:
    for kind in sorted(kinds, key=_nvlinks, reverse=True):
        if count := _nvlinks(kind):
            yield kind, ngettext("%(n)d NVLink", "%(n)d NVLinks", count) % {"n": count}
    yield from ((kind, str(meaning)) for kind, meaning in _LEVELS.items() if kind in kinds)
