"""The public accelerators as what software is planned for. No query but that for the catalogue's edition."""

from urllib.parse import urlencode

from django.urls import reverse

from stackviz.pages.plan.support import PlanTarget
from stackviz.pages.plan.ways import is_planned, ways
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.card_drivers import card_capability, cards_by_slug
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import Tables
from stackviz.report.rules.known_cards import KnownCard


def find_target(tables: Tables, slug: str) -> PlanTarget | None:
    """The public accelerator with this slug; None where there is none."""
    accelerator = public_catalogue().by_slug.get(slug)
    return _target(tables, accelerator) if accelerator else None


def target_card(tables: Tables, target: PlanTarget) -> KnownCard | None:
    """The card that plans of torch are made with; None where the tables of its builds do not speak of it."""
    if not is_planned(target):
        return None
    card = cards_by_slug(tables).get(target.slug)
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
    capability = card_capability(tables, accelerator)
    return PlanTarget(accelerator.slug, accelerator.name, accelerator.vendor.slug, capability)


def plan_address(slug: str, system: str = "") -> str:
    """The plan for a public accelerator; "" for any other. A system that does not run it is left open."""
    tables = rule_tables()
    target = find_target(tables, slug)
    if target is None:
        return ""
    fits = any(way.system == system and system for way in ways(tables, target))
    return f"{reverse('plan:page')}?{urlencode({'accelerator': slug} | ({'system': system} if fits else {}))}"
