"""From the names cards report to accelerators of the catalogue: one query for any number of cards.

A name alone is often not enough: `NVIDIA GeForce RTX 3060` has 8 or 12 GB, `Apple M3 Max` 30 or 40 GPU cores. Memory
size, GPU core count and the model of the machine then decide; if they cannot, the match says what would.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from stackviz.catalog.models import Accelerator, Alias
from stackviz.catalog.names import normalized

# A card reports less than is printed (81,559 MiB of "80 GB", 46,068 MiB of "48 GB" with ECC on): a few per cent.
MEMORY_TOLERANCE = 0.06
GIB, GB = 2**30, 10**9

How = Literal["name", "name+memory", "name+gpu-cores", "name+machine", "ambiguous", "unknown"]


@dataclass(frozen=True, slots=True)
class CardName:
    """What a card says about itself. `machine_model`: such as `Mac15,9`, where the machine says so."""

    reported_name: str
    vendor: str = ""
    memory_bytes: int | None = None
    gpu_cores: int | None = None
    machine_model: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """The accelerator a card is, or None with the candidates and what would decide between them."""

    accelerator: Accelerator | None
    how: How
    candidates: tuple[Accelerator, ...] = ()
    needs: str = ""


def match_card(
    reported_name: str,
    vendor: str = "",
    memory_bytes: int | None = None,
    gpu_cores: int | None = None,
    machine_model: str = "",
) -> Match:
    """The accelerator this card is. One query; for several cards use `match_cards`."""
    return match_cards([CardName(reported_name, vendor, memory_bytes, gpu_cores, machine_model)])[0]


def match_cards(cards: Sequence[CardName]) -> list[Match]:
    """One Match per card, in the order given. One query however many cards (none for no card)."""
    wanted = {normalized(name) for card in cards for name in (card.reported_name, card.machine_model)} - {""}
    aliases: dict[str, list[Alias]] = defaultdict(list)
    if wanted:
        for alias in Alias.objects.filter(normalized__in=wanted).select_related("accelerator__vendor").order_by("pk"):
            aliases[alias.normalized].append(alias)
    return [decide(card, aliases) for card in cards]


def decide(card: CardName, aliases: dict[str, list[Alias]]) -> Match:
    """The match of one card among `aliases` (by normalized name). No query."""
    found = [alias for alias in aliases.get(normalized(card.reported_name), ()) if _is_vendor(alias, card.vendor)]
    if not found:
        return Match(None, "unknown")
    if len(_accelerators(found)) == 1 and not _contradicts(found, card):
        return Match(found[0].accelerator, "name", _accelerators(found))
    for how, narrow in _narrowings(card, aliases):
        narrowed = narrow(found)
        if len(_accelerators(narrowed)) == 1:
            return Match(narrowed[0].accelerator, how, _accelerators(found))
        found = narrowed or found
    return Match(None, "ambiguous", _accelerators(found), _what_decides(found, card))


def _narrowings(
    card: CardName, aliases: dict[str, list[Alias]]
) -> Iterable[tuple[How, Callable[[list[Alias]], list[Alias]]]]:
    """What can tell candidates apart, most telling first; what the card does not say is left out."""
    if card.gpu_cores:
        yield "name+gpu-cores", lambda found: [alias for alias in found if alias.gpu_cores == card.gpu_cores]
    if card.memory_bytes:
        yield "name+memory", lambda found: _nearest_in_memory(found, card.memory_bytes or 0)
    if card.machine_model:
        built_in = {alias.accelerator_id for alias in aliases.get(normalized(card.machine_model), ())}
        yield "name+machine", lambda found: [alias for alias in found if alias.accelerator_id in built_in]


def _is_vendor(alias: Alias, vendor: str) -> bool:
    return not vendor or vendor.casefold() in (alias.accelerator.vendor.slug, "unknown", "other")


def _contradicts(found: list[Alias], card: CardName) -> bool:
    """Whether the card's memory or core count rules out every alias: then the name alone does not decide."""
    if card.gpu_cores and all(alias.gpu_cores and alias.gpu_cores != card.gpu_cores for alias in found):
        return True
    sizes = [alias.memory_bytes for alias in found if alias.memory_bytes]
    return bool(card.memory_bytes and len(sizes) == len(found)) and not _nearest_in_memory(
        found, card.memory_bytes or 0
    )


def _nearest_in_memory(found: list[Alias], reported_bytes: int) -> list[Alias]:
    """The aliases whose printed memory is nearest to what is reported, within MEMORY_TOLERANCE."""
    distances = [(memory_distance(alias.memory_bytes, reported_bytes), alias) for alias in found if alias.memory_bytes]
    least = min((distance for distance, _alias in distances), default=1.0)
    if least > MEMORY_TOLERANCE:
        return []
    return [alias for distance, alias in distances if distance == least]


def memory_distance(printed_bytes: int, reported_bytes: int) -> float:
    """How far, relative to the printed size, a reported size is off, be the printed GB decimal or binary in truth."""
    printed_gb = printed_bytes / GB
    return min(abs(reported_bytes / GIB - printed_gb), abs(reported_bytes / GB - printed_gb)) / printed_gb


def _accelerators(found: Iterable[Alias]) -> tuple[Accelerator, ...]:
    return tuple({alias.accelerator_id: alias.accelerator for alias in found}.values())


def _what_decides(found: list[Alias], card: CardName) -> str:
    cores = {alias.gpu_cores for alias in found}
    sizes = {alias.memory_bytes for alias in found}
    if len(cores) > 1 and not card.gpu_cores:
        return _("the number of GPU cores")
    if len(sizes) > 1 and not card.memory_bytes:
        return _("the memory size")
    if len(sizes) > 1 or len(cores) > 1:
        return _("a name of its own: neither memory size nor GPU cores fit a sheet")
    return _("the PCI device id or a closer look: several sheets share name and memory size")


def describe(how: How) -> str:
    """How a card was matched, in words for people."""
    return {
        "name": _("by its name"),
        "name+memory": _("by its name and memory size"),
        "name+gpu-cores": _("by its name and GPU core count"),
        "name+machine": _("by its name and the machine's model"),
        "ambiguous": _("several sheets have this name"),
        "unknown": _("no sheet has this name"),
    }[how]
