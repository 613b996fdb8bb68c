"""The cards of a report: alike ones in one row, and what each states where they differ. No queries."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.base.units import format_count
from stackviz.intake.report_parts.facts import Absences, Facts, ShownFact, fact_text, in_order, meaning_of, one_fact
from stackviz.records.catalog.models import Accelerator
from stackviz.records.series.measurement import CardUsed
from stackviz.report import format as wire
from stackviz.report.format.facts import CARD_ABSENT_NAMES

PARENT = "mig_parent_index"
"""The fact that an instance has and a whole card has not."""


@dataclass(frozen=True, slots=True)
class MatchedCard:
    """A card of a report with the public sheet its name is in; `needs`: what would decide between several."""

    reported: wire.Card
    sheet: Accelerator | None
    needs: str = ""


@dataclass(frozen=True, slots=True)
class CardKind:
    """Cards of one product in one machine. `url` is empty where the name is in no public sheet."""

    name: str
    count: int
    url: str

    @property
    def label(self) -> str:
        return format_count(self.name, self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardColumns:
    """What a table shows of a card after its name."""

    memory: ShownFact
    power: ShownFact
    is_capped: bool
    link: ShownFact
    kernels: ShownFact


@dataclass(frozen=True, slots=True)
class CardRow:
    """Cards with equal facts."""

    cards: tuple[MatchedCard, ...]
    columns: CardColumns

    @property
    def reported_name(self) -> str:
        return self.cards[0].reported.reported_name

    @property
    def label(self) -> str:
        return format_count(self.reported_name, len(self.cards))

    @property
    def indexes_label(self) -> str:
        """Their indexes in short: `0–4, 6`."""
        return span([card.reported.index for card in self.cards])

    @property
    def sheet(self) -> Accelerator | None:
        return self.cards[0].sheet

    @property
    def url(self) -> str:
        """Of the sheet; empty where the name is in no public one."""
        return self.sheet.get_absolute_url() if self.sheet else ""

    @property
    def needs(self) -> str:
        return self.cards[0].needs

    @property
    def is_unified(self) -> bool:
        """Whether it computes in the machine's memory and has no memory itself."""
        return self.cards[0].reported.facts.get("unified_memory") is True


CardFact = tuple[str, str, list[tuple[str, list[int], ShownFact]]]


def card_kinds(cards: Iterable[MatchedCard]) -> tuple[CardKind, ...]:
    """Cards gathered by product, in order of the first of each; by the name they reported where no sheet is known.

    An instance that a card is cut into is not a separate card.
    """
    whole = [card for card in cards if PARENT not in card.reported.facts]
    counts = Counter((card.sheet, "" if card.sheet else card.reported.reported_name) for card in whole)
    return tuple(
        CardKind(sheet.name, count, sheet.get_absolute_url()) if sheet else CardKind(name, count, "")
        for (sheet, name), count in counts.items()
    )


def by_columns(card: MatchedCard) -> Hashable:
    """Cards are alike that have the same name, sheet and columns."""
    return card.reported.reported_name, card.sheet, card.needs, card_columns(card.reported)


def by_name(card: MatchedCard) -> Hashable:
    """Cards are alike that have the same name and memory."""
    return card.reported.reported_name, card.reported.memory_bytes, card.needs


def card_rows(cards: Iterable[MatchedCard], alike: Callable[[MatchedCard], Hashable] = by_columns) -> list[CardRow]:
    """A row for each kind of card, in order of the first of its kind."""
    groups: dict[Hashable, list[MatchedCard]] = {}
    for card in cards:
        groups.setdefault(alike(card), []).append(card)
    return [CardRow(tuple(group), card_columns(group[0].reported)) for group in groups.values()]


def card_facts(cards: Iterable[MatchedCard]) -> list[CardFact]:
    """Every fact any card states or lacks, in the registry's order: (name, meaning, values).

    A value is (cards in words, their indexes, the fact); cards that agree share one, in words "" where all do.
    """
    reported = [card.reported for card in cards]
    names = {name for card in reported for name in (*card.facts, *card.absent)}
    return [(name, meaning_of(name), _values(name, reported)) for name in in_order(names, CARD_ABSENT_NAMES)]


def _values(name: str, cards: Sequence[wire.Card]) -> list[tuple[str, list[int], ShownFact]]:
    groups: dict[ShownFact, list[int]] = {}
    for card in cards:
        groups.setdefault(one_fact(name, card.facts, card.absent), []).append(card.index)
    is_common = len(groups) == 1
    return [("" if is_common else span(indexes), indexes, fact) for fact, indexes in groups.items()]


def span(indexes: Sequence[int]) -> str:
    """Indexes in short: [0, 1, 2, 4] -> "0–2, 4"."""
    parts = []
    for _gap, pairs in groupby(enumerate(sorted(indexes)), key=lambda pair: pair[1] - pair[0]):
        run = [index for _number, index in pairs]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return ", ".join(parts)


def card_columns(card: wire.Card) -> CardColumns:
    facts, absent = card.facts, card.absent
    memory = fact_text("memory_bytes", card.memory_bytes)
    return CardColumns(
        memory=ShownFact("memory_bytes", memory) if memory else one_fact("memory_bytes", {}, absent),
        power=one_fact("power_limit_w", facts, absent),
        is_capped=CardUsed(card.index, card.reported_name, None, facts).power_cap is not None,
        link=_link(facts, absent),
        kernels=_kernels(facts, absent),
    )


def _link(facts: Facts, absent: Absences) -> ShownFact:
    """The bus at its best: the link in use drops when a card idles."""
    generation = facts.get("pcie_generation_max") or facts.get("pcie_generation")
    width = facts.get("pcie_width_max") or facts.get("pcie_width")
    if facts.get("unified_memory") is True:
        return ShownFact("pcie_generation", _("none: unified memory"))
    if generation and width:
        return ShownFact("pcie_generation", f"PCIe {generation} ×{width}")
    return one_fact("pcie_generation", facts, absent)


def _kernels(facts: Facts, absent: Absences) -> ShownFact:
    """What tells which kernels fit: compute capability, or Apple's Metal family and GPU cores."""
    if capability := facts.get("compute_capability"):
        return ShownFact("compute_capability", str(capability))
    cores = facts.get("gpu_cores")
    known = [str(facts["metal_family"])] if facts.get("metal_family") else []
    known += [_("%(n)s GPU cores") % {"n": cores}] if cores else []
    return ShownFact("metal_family", " · ".join(known)) if known else one_fact("compute_capability", facts, absent)


# Links between the cards of a machine, from the fact `nvidia.topology`, in the words of `nvidia-smi topo -m`.


MOST_CARDS = 16
_PAIR = re.compile(r"(\d{1,2})-(\d{1,2}):([A-Z0-9]{1,6})", re.ASCII)
_NVLINK = re.compile(r"NV(\d{1,2})", re.ASCII)
_LEVELS = {
    "PIX": gettext_lazy("one PCIe bridge"),
    "PXB": gettext_lazy("several PCIe bridges, but not the processor"),
    "PHB": gettext_lazy("the processor's PCIe host bridge"),
    "NODE": gettext_lazy("between host bridges of one NUMA node"),
    "SYS": gettext_lazy("between processors or NUMA nodes"),
}
"""Of PCIe, the closest first."""


@dataclass(frozen=True, slots=True)
class CardLinks:
    """All links: for each card (link, rank) to each card of the machine.

    A link is `NV18`, "" of a card with itself, "?" where the report does not say. Its rank is "nvlink", "fewer" for
    fewer NVLinks than the most between two cards of this machine, "pcie", or "".
    `legend`: (kind, its meaning), the closest first; `more`: cards that are not shown.
    """

    rows: Mapping[int, Sequence[tuple[str, str]]]
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

    def cell(first: int, second: int) -> tuple[str, str]:
        kind = "" if first == second else links.get(frozenset((first, second)), "?")
        count = _nvlinks(kind)
        rank = ("nvlink" if count == most else "fewer") if count else "pcie" if kind in _LEVELS else ""
        return kind, rank

    rows = {first: [cell(first, second) for second in shown] for first in shown}
    kinds = {kind for row in rows.values() for kind, _rank in row}
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
