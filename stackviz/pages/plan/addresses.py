"""Addresses of plans, for pages of other rooms."""

from urllib.parse import urlencode

from django.urls import reverse

from stackviz.pages.plan.targets import find_target
from stackviz.pages.plan.ways import ways
from stackviz.records.stacks.rule_tables import rule_tables


def plan_address(slug: str, system: str = "") -> str:
    """The plan for a public accelerator; "" for any other. A system that does not run it is left open."""
    tables = rule_tables()
    target = find_target(tables, slug)
    if target is None:
        return ""
    fits = any(way.system == system and system for way in ways(tables, target))
    return f"{reverse('plan:page')}?{urlencode({'accelerator': slug} | ({'system': system} if fits else {}))}"
