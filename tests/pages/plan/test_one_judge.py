"""What a plan passes over its own list of upgrades does not call harmless: both ask the same rules."""

import pytest

from stackviz.pages.plan.page import make_plan
from stackviz.pages.plan.planned_machine import SYSTEMS
from stackviz.pages.plan.query import read_plan_query
from stackviz.pages.plan.targets import find_target
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.rule_tables import rule_tables
from tests.plans.matrix import DAY
from tests.sampled import sampled


@sampled(3)
def test_what_a_plan_passes_over_is_no_harmless_upgrade(curated, db, sample):
    targets = [find_target(rule_tables(), row.slug) for row in public_catalogue().accelerators]
    cards = {target.capability: target.slug for target in targets if target.vendor == "nvidia" and target.capability}
    skipped = 0
    for slug in sample([*cards.values(), "nvidia-geforce-gtx-1060-6gb"]):
        for system in SYSTEMS:
            query = read_plan_query({"accelerator": slug, "system": system}, rule_tables(), DAY)
            if not query.has_plan or query.machine.system.key != system:
                continue
            plan = make_plan(query, rule_tables(), DAY)
            if plan.skipped:
                [torch] = [row.upgrade for row in plan.life.upgrades if row.upgrade.component == "pytorch"]
                assert torch.breaks or torch.untold, (slug, system)
                skipped += 1
    assert skipped


@pytest.mark.parametrize("system", ["linux-x86_64", "windows-x86_64"])
def test_old_cards_are_given_the_reason_in_both_places(curated, db, system):
    query = read_plan_query({"accelerator": "nvidia-geforce-gtx-1060-6gb", "system": system}, rule_tables(), DAY)
    plan = make_plan(query, rule_tables(), DAY)
    [torch] = [row.upgrade for row in plan.life.upgrades if row.upgrade.component == "pytorch"]
    assert torch.to == plan.skipped.link.torch == "2.15.0"
    [broken] = [finding for finding in torch.breaks if finding.rule == "kernels-missing"]
    assert broken.title in plan.skipped.reasons


@pytest.mark.parametrize(("python", "is_named"), [("", False), ("3.14", True)])
def test_no_text_claims_a_python_that_nobody_named(curated, db, client, python, is_named):
    address = "/plan/?accelerator=nvidia-geforce-gtx-1080&system=linux-x86_64&torch=2.14.1&driver=470.57"
    page = client.get(f"{address}&python={python}" if python else address).content.decode()
    assert "The smallest step that fits" in page
    assert ("and this is 3.14" in page) is is_named
