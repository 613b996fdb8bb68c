"""Few or unequal PCIe lanes where nothing says how many the card could have: notes, not faults."""

from collections.abc import Iterator

from stackviz.base.sentence import say
from stackviz.report.rules.checks.card_state import PCIE_WIDTH
from stackviz.report.rules.checks.grouping import indexes, named
from stackviz.report.rules.compatibility import Tables
from stackviz.report.rules.look import CardLook, Look
from stackviz.report.rules.rule import Conclusion, RuleSet, Severity

RULES = RuleSet(order=73)

FEW_LANES = 4  # as of a slot of the chipset, an M.2 adapter, OCuLink or Thunderbolt


@RULES.rule("pcie-few-lanes", "hardware", asks="the card has few PCIe lanes", worst=Severity.NOTE, source=PCIE_WIDTH)
def check_few_lanes(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    """A card that states its most lanes is left to pcie-width."""
    narrow = [card for card in _without_most(look) if _lanes(card) <= FEW_LANES]
    groups: dict[float, list[CardLook]] = {}
    for card in narrow:
        groups.setdefault(_lanes(card), []).append(card)
    for lanes, group in groups.items():
        yield Conclusion(
            severity=Severity.NOTE,
            title=say("PCIe lanes in use: {lanes} on {named}", f"{lanes:g}", named(group)),
            explanation=say(
                "Usual slots give 8 or 16. What stays on the card is as fast as elsewhere: a model that fits decodes "
                "without loss. Loading it, long prompts over several cards and layers left on the CPU wait for the "
                "link."
            ),
            advice=say(
                "Nothing to do where one card holds all. For several cards that work together, prefer slots of the "
                "processor. To check: nvidia-smi -q, or lspci -vv"
            ),
            cards=indexes(group),
        )


@RULES.rule(
    "pcie-lanes-differ", "hardware", asks="cards have as many PCIe lanes", worst=Severity.NOTE, source=PCIE_WIDTH
)
def check_lanes_differ(look: Look, _tables: Tables) -> Iterator[Conclusion]:
    cards = _without_most(look)
    lanes = {_lanes(card) for card in cards}
    if len(lanes) > 1:
        yield Conclusion(
            severity=Severity.NOTE,
            title=say(
                "Cards have different numbers of PCIe lanes: {lanes}", ", ".join(f"{n:g}" for n in sorted(lanes))
            ),
            explanation=say("Cards that share the work of each layer exchange data and wait for the slowest link."),
            advice=say(
                "Split a model by layers instead of within them, or give both cards the same number of lanes: the "
                "board's manual says which slots share them."
            ),
            cards=indexes(cards),
        )


def _without_most(look: Look) -> list[CardLook]:
    """Cards in a slot that state their lanes in use, and not the most that they could have."""
    return [
        card
        for card in look.all_cards
        if card.number("pcie_width") and card.number("pcie_width_max") is None and not card.is_true("unified_memory")
    ]


def _lanes(card: CardLook) -> float:
    return card.number("pcie_width") or 0.0
