"""The cards of one machine: alike ones in one row, and what each says where they differ. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.translation import gettext as _

from stackviz.benchmarks.measurement import CardUsed
from stackviz.facts import CARD_ABSENT_NAMES
from stackviz.labs.as_report import absences
from stackviz.labs.models import Card
from stackviz.reports.facts import Absences, Facts, ShownFact, fact_text, in_order, meaning_of, one_fact


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRow:
    """Cards that read alike. `places`: their indexes in short, "0–4, 6". `sheet_url` empty: in no public sheet."""

    places: str
    reported_name: str
    sheet_name: str
    sheet_url: str
    memory: ShownFact
    power: ShownFact
    is_capped: bool
    link: ShownFact
    kernels: ShownFact


@dataclass(frozen=True, slots=True)
class CardFact:
    """One fact of all cards. `values`: (places, text or why it is missing); one entry where all agree."""

    name: str
    meaning: str
    values: tuple[tuple[str, ShownFact], ...]


def card_rows(cards: Sequence[Card]) -> list[CardRow]:
    """A row for each kind of card, in order of the first of its kind."""
    alike: dict[CardRow, list[int]] = {}
    for card in cards:
        alike.setdefault(_row(card), []).append(card.index)
    return [_placed(row, indexes) for row, indexes in alike.items()]


def card_facts(cards: Sequence[Card]) -> list[CardFact]:
    """Every fact any card states or lacks, in the registry's order; cards that agree share an entry."""
    names = {name for card in cards for name in (*card.facts, *card.absent)}
    return [_fact(name, cards) for name in in_order(names, CARD_ABSENT_NAMES)]


def _fact(name: str, cards: Sequence[Card]) -> CardFact:
    said: dict[ShownFact, list[int]] = {}
    for card in cards:
        said.setdefault(_said(name, card), []).append(card.index)
    values = tuple((span(indexes) if len(said) > 1 else "", fact) for fact, indexes in said.items())
    return CardFact(name, meaning_of(name), values)


def _said(name: str, card: Card) -> ShownFact:
    if name in card.facts:
        return ShownFact(name, fact_text(name, card.facts[name]))
    return one_fact(name, {}, absences({name: card.absent.get(name)}))


def span(indexes: Sequence[int]) -> str:
    """Indexes in short: [0, 1, 2, 4] -> "0–2, 4"."""
    parts = []
    for _gap, run in groupby(enumerate(sorted(indexes)), key=lambda pair: pair[1] - pair[0]):
        places = [place for _number, place in run]
        parts.append(str(places[0]) if len(places) == 1 else f"{places[0]}–{places[-1]}")
    return ", ".join(parts)


def _placed(row: CardRow, indexes: Sequence[int]) -> CardRow:
    return replace(row, places=span(indexes))


def _row(card: Card) -> CardRow:
    facts, absent = card.facts, absences(card.absent)
    sheet = card.public_sheet
    memory = ShownFact("memory_bytes", fact_text("memory.total_bytes", card.memory_bytes))
    return CardRow(
        places="",
        reported_name=card.reported_name,
        sheet_name=sheet.name if sheet else "",
        sheet_url=sheet.get_absolute_url() if sheet else "",
        memory=memory if memory.text else one_fact("memory_bytes", {}, absent),
        power=one_fact("power_limit_w", facts, absent),
        is_capped=CardUsed(card.index, card.reported_name, card.accelerator_id, facts).power_cap is not None,
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
