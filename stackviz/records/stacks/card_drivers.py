"""The compute capability of a product, and the first and last branch of the NVIDIA driver that knows it.

The planner, the rules and the sheets take both from here or from the functions below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.report.rules import Tables
from stackviz.report.rules.capabilities import listed_capabilities
from stackviz.report.rules.compatibility import Requirement, computed_once
from stackviz.report.rules.drivers import end_of_card, first_branch
from stackviz.report.rules.known_cards import KnownCard

__all__ = ["CardDrivers", "card_capability", "card_drivers", "cards_by_slug"]

_JETSON = "nvidia-jetson-"  # its driver comes with its JetPack and has other numbers
_WITH_ARM = ("nvidia-gh200-", "nvidia-gb200", "nvidia-gb300", "nvidia-dgx-spark-")  # under Linux only


@dataclass(frozen=True, slots=True)
class CardDrivers:
    """The branches for a product. `first`: by system ("linux", "windows"); `last`: None where none ends yet."""

    capability: str
    first: Mapping[str, Requirement]
    last: Requirement | None


def card_drivers(tables: Tables, accelerator: Accelerator) -> CardDrivers | None:
    """None for a product of another vendor, for a Jetson, and where the tables know neither branch."""
    slug = accelerator.slug
    if accelerator.vendor.slug != "nvidia" or slug.startswith(_JETSON):
        return None
    capability = card_capability(tables, accelerator)
    systems = ("linux",) if slug.startswith(_WITH_ARM) else ("linux", "windows")
    rows = {system: first_branch(tables, capability, system) for system in systems}
    first = {system: row for system, row in rows.items() if row}
    last = end_of_card(tables, capability)
    return CardDrivers(capability, first, last) if first or last else None


def card_capability(tables: Tables, accelerator: Accelerator) -> str:
    """Return `8.9`, `gfx942`: of its sheet, else of the names that cards report, else of similar names; "" unknown."""
    published = {value.value for value in public_catalogue().preferred(accelerator.pk, "compute_capability")}
    if len(published) == 1:
        return next(iter(published))
    card = cards_by_slug(tables).get(accelerator.slug)
    if card and card.compute_capability:
        return card.compute_capability
    capabilities = (listed_capabilities(accelerator.vendor.slug, name) for name in _names(accelerator))
    listed = next(filter(None, capabilities), frozenset())
    return next(iter(listed)) if len(listed) == 1 else ""


def _names(accelerator: Accelerator) -> list[str]:
    """Its name, and that without up to two words at the end: `NVIDIA H800 SXM5 80GB` reports `NVIDIA H800`."""
    words = accelerator.name.split()
    return [" ".join(words[:count]) for count in range(len(words), max(1, len(words) - 3), -1)]


@computed_once
def cards_by_slug(tables: Tables) -> Mapping[str, KnownCard]:
    """Slug -> the card of the shortest name; one with a capability before one without."""
    cards = sorted(
        tables.cards, key=lambda card: (not card.compute_capability, len(card.reported_name), card.reported_name)
    )
    return {card.accelerator: card for card in reversed(cards)}
