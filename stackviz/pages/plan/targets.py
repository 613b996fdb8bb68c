"""The public accelerators as what software is planned for. No query but that for the catalogue's edition."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.urls import reverse

from stackviz.pages.plan.support import PlanTarget
from stackviz.pages.plan.ways import is_planned, ways
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables
from stackviz.report.rules.capabilities import listed_capabilities
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.known_cards import KnownCard


def find_target(tables: Tables, slug: str) -> PlanTarget | None:
    """The public accelerator with this slug; None where there is none."""
    accelerator = public_catalogue().by_slug.get(slug)
    return _target(tables, accelerator) if accelerator else None


def target_card(tables: Tables, target: PlanTarget) -> KnownCard | None:
    """The card that plans of torch are made with; None where the tables of its builds do not speak of it."""
    if not is_planned(target):
        return None
    card = _cards(tables).get(target.slug)
    if card is not None and card.compute_capability == target.capability:
        return card
    return KnownCard(
        reported_name=target.name,
        vendor=target.vendor,
        accelerator=target.slug,
        memory_bytes=card.memory_bytes if card else None,
        compute_capability=target.capability,
    )


def _target(tables: Tables, accelerator: Accelerator) -> PlanTarget:
    """With the capability of its sheet, else of the table of names that cards report, else of similar names."""
    card, vendor = _cards(tables).get(accelerator.slug), accelerator.vendor.slug
    published = {value.value for value in public_catalogue().preferred(accelerator.pk, "compute_capability")}
    capability = next(iter(published)) if len(published) == 1 else ""
    if not capability and card:
        capability = card.compute_capability
    if not capability:
        capabilities = (listed_capabilities(vendor, name) for name in _names(accelerator))
        listed = next(filter(None, capabilities), frozenset())
        capability = next(iter(listed)) if len(listed) == 1 else ""
    return PlanTarget(accelerator.slug, accelerator.name, vendor, capability)


def _names(accelerator: Accelerator) -> list[str]:
    """Its name, and that without up to two words at the end: `NVIDIA H800 SXM5 80GB` reports `NVIDIA H800`."""
    words = accelerator.name.split()
    return [" ".join(words[:count]) for count in range(len(words), max(1, len(words) - 3), -1)]


@computed_once
def _cards(tables: Tables) -> Mapping[str, KnownCard]:
    """Slug -> the card of the shortest name; one with a capability before one without."""
    cards = sorted(
        tables.cards, key=lambda card: (not card.compute_capability, len(card.reported_name), card.reported_name)
    )
    return {card.accelerator: card for card in reversed(cards)}


def plan_address(slug: str, system: str = "") -> str:
    """The plan for a public accelerator; "" for any other. A system that does not run it is left open."""
    tables = rule_tables()
    target = find_target(tables, slug)
    if target is None:
        return ""
    fits = any(way.system == system and system for way in ways(tables, target))
    return f"{reverse('plan:page')}?{urlencode({'accelerator': slug} | ({'system': system} if fits else {}))}"
