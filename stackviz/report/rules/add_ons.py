"""Packages that people add to a torch, and the newest release of each that goes with it and supports the card."""

from dataclasses import dataclass

from stackviz.base.sentence import say
from stackviz.report.rules.checks.companions import fits
from stackviz.report.rules.compatibility import RuleSource, Tables, computed_once, newest_up_to, platforms_of
from stackviz.report.rules.versions import is_below, major_minor, numbers

__all__ = ["ADD_ONS", "AddOn", "add_ons"]

ADD_ONS = {
    "xformers": "xFormers",
    "flash-attn": "FlashAttention",
    "sageattention": "SageAttention",
    "bitsandbytes": "bitsandbytes",
}

NOTES = {
    "flash-attn": say(
        "Each of its wheels is for one torch and one CUDA: where none is published for these, pip compiles it."
    ),
    "sageattention": say(
        "It is compiled from its repository, with the nvcc of CUDA 12.8 for Blackwell; pip has 1.0.6, the slower one "
        "in Triton."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOn:
    """A release beside a torch; `version` "" with `why_none` where the tables know none. `source`: of its row."""

    component: str
    version: str = ""
    why_none: str = ""
    note: str = ""
    source: RuleSource | None = None


@computed_once
def add_ons(tables: Tables, torch: str, wheel: str, capability: str) -> tuple[AddOn, ...]:
    """Triton, which torch brings, and each of ADD_ONS, for a card of this compute capability."""
    shipped = [
        row
        for row in tables.rows("pytorch", "ships", "triton", platform=wheel)
        if major_minor(row.version) == major_minor(torch) and row.values
    ]
    exact = [row for row in shipped if numbers(row.version) == numbers(torch)]
    triton = [AddOn(component="triton", version=row.values, source=row.source) for row in exact[:1]]
    return (*triton, *(_add_on(tables, component, torch, wheel, capability) for component in ADD_ONS))


def _add_on(tables: Tables, component: str, torch: str, wheel: str, capability: str) -> AddOn:
    platforms = platforms_of(wheel)
    rows = [row for row in tables.rows(component, "needs", "pytorch") if row.platform in platforms]
    fitting = [row for row in reversed(rows) if fits(row, torch)]
    name = ADD_ONS[component]
    if not fitting:
        return AddOn(
            component=component, why_none=say("No release of {name} on record goes with torch {torch}", name, torch)
        )
    row = fitting[0]
    cards = [
        card
        for card in tables.rows(component, "supports", "compute-capability")
        if not card.part and card.platform in platforms
    ]
    card = next(iter(newest_up_to(cards, row.version)), None)
    if card and card.low and is_below(capability, card.low):
        why = say("{name} {version} needs compute capability {low} or newer", name, row.version, card.low)
        return AddOn(component=component, why_none=why, source=card.source)
    if card and card.values and capability not in card.values.split():
        why = say("{name} {version} has code for compute capability {values}", name, row.version, card.values)
        return AddOn(component=component, why_none=why, source=card.source)
    return AddOn(component=component, version=row.version, note=NOTES.get(component, ""), source=row.source)
