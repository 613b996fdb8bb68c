"""Addresses of plans, for pages of other rooms."""

from urllib.parse import urlencode

from django.urls import reverse

from stackviz.plan.planned_machine import SYSTEMS
from stackviz.plan.query import plannable_card
from stackviz.stacks.rule_tables import rule_tables


def plan_address(slug: str, system: str = "") -> str:
    """The plan for a public accelerator; "" where none can be made. A system that does not run it is left open."""
    card = plannable_card(rule_tables(), slug)
    if card is None:
        return ""
    fits = system in SYSTEMS and card.vendor in SYSTEMS[system].vendors
    return f"{reverse('plan:page')}?{urlencode({'accelerator': slug} | ({'system': system} if fits else {}))}"
