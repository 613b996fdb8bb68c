"""The architecture of a card or an accelerator: its compute capability, or the family of its Metal GPU.

A card that does not state it has that of the products its name may mean. Of an Apple chip, the tables of releases say
which generations a family is.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.report.format import Card
from stackviz.report.rules import packaged_tables
from stackviz.report.rules.look import CardLook

CAPABILITY, FAMILY = "compute-capability", "metal-family"
_GENERATION = re.compile(r"\b[AM]\d{1,3}(?: Pro\b)?")
_METAL_FAMILY = re.compile(r"Apple\d{1,3}")


def architectures_of_cards(cards: Iterable[Card]) -> dict[str, tuple[str, ...]]:
    """Architecture of each card, by the kind of it; "" for a card of which it is not known. No query."""
    known: dict[str, tuple[str, ...]] = {}
    for card in cards:
        vendor = card.vendor.strip().lower()
        if vendor == "nvidia":
            capability = CardLook(card, packaged_tables()).get("compute_capability") or ""
            known[CAPABILITY] = (*known.get(CAPABILITY, ()), capability)
        elif vendor == "apple":
            known[FAMILY] = (*known.get(FAMILY, ()), metal_family(card.reported_name))
    return known


@lru_cache(maxsize=256)  # names are whatever machines report
def metal_family(name: str) -> str:
    """`Apple M3 Max` -> `Apple9`; "" for a chip of which no table says it."""
    match = _GENERATION.search(name)
    chip = match[0] if match else ""
    short = chip.partition(" ")[0]
    for release in packaged_tables().releases:
        if release.component == FAMILY and chip:
            chips = {text.removesuffix(" series") for text in release.line.split(", ")}
            if not chips.isdisjoint({chip, short}):
                return release.version
    return ""


def architectures_of_sheets(accelerators: Iterable[Accelerator]) -> dict[str, tuple[str, ...]]:
    """Published architecture of each accelerator, by the kind of it; "" where none is. No query but the catalogue's."""
    catalogue = public_catalogue()
    known: dict[str, tuple[str, ...]] = {}
    for accelerator in accelerators:
        for kind, field in ((CAPABILITY, "compute_capability"), (FAMILY, "metal_gpu_family")):
            published = {value.value for value in catalogue.preferred(accelerator.pk, field)}
            text = published.pop() if len(published) == 1 else ""
            family = _METAL_FAMILY.search(text)
            release = (family[0] if family else "") if kind == FAMILY else text
            known[kind] = (*known.get(kind, ()), release)
    return known
