"""A driver that is older than a card's generation runs nothing on it: in plans and for the rules, of every release."""

from datetime import UTC, datetime

import pytest

from stackviz.pages.plan.builds import builds, choose_build, planned_report
from stackviz.pages.plan.planned_machine import SYSTEMS, PlannedMachine
from stackviz.report.rules import find, packaged_tables
from stackviz.report.rules.drivers import first_branch, needed_driver, shipped_drivers
from stackviz.report.rules.known_cards import KnownCard
from tests.plans.test_matrix import FIRST

DAY = datetime(2026, 11, 20, tzinfo=UTC)
TABLES = packaged_tables()


def machine(capability: str, system: str, torch: str, driver: str = "") -> PlannedMachine:
    card = KnownCard(
        reported_name="A card", vendor="nvidia", accelerator="a", memory_bytes=None, compute_capability=capability
    )
    return PlannedMachine(system=SYSTEMS[system], torch=torch, card=card, driver=driver)


@pytest.mark.parametrize("platform", ["linux", "windows"])
@pytest.mark.parametrize("capability", [*FIRST, "8.7"])
def test_the_first_branch_is_the_one_of_the_first_toolkit(capability, platform):
    first = first_branch(TABLES, capability, platform)
    assert first.low == str(FIRST.get(capability, 450))
    [toolkit] = [
        row for row in TABLES.rows("compute-capability", "needs", "cuda-toolkit") if row.version == first.version
    ]
    shipped = shipped_drivers(TABLES, toolkit.low, platform)[0].values
    assert 0 <= int(shipped.split(".")[0]) - int(first.low) < 5  # on Windows R410 begins with 411
    assert shipped in first.note


@pytest.mark.parametrize(
    ("capability", "cuda", "platform", "driver"),
    [
        ("12.0", "12.8", "linux", "570"),
        ("12.0", "13.0", "linux", "580.65.06"),
        ("12.0", "13.0", "windows", "580"),
        ("8.9", "11.7", "linux", "520"),
        ("8.9", "12.6", "windows", "527.41"),
        ("7.0", "12.6", "linux", "525.60.13"),
        ("3.7", "11.8", "linux", "450.80.02"),  # Kepler: its first driver is in no table
    ],
)
def test_a_build_needs_the_newer_of_its_own_driver_and_the_cards(capability, cuda, platform, driver):
    assert needed_driver(TABLES, cuda, capability, platform).low == driver


@pytest.mark.parametrize(
    ("capability", "torch", "driver"),
    [("12.0", "2.7.0", "550.54"), ("8.9", "2.0.1", "470.57"), ("8.9", "2.0.1", "510.47"), ("9.0", "2.1.0", "470.57")],
)
def test_a_plan_under_a_driver_before_the_card_has_no_build(capability, torch, driver):
    plan = machine(capability, "linux-x86_64", torch, driver)
    offered = builds(plan, TABLES, DAY)
    assert choose_build(offered, plan, TABLES, DAY) is None
    found = {finding.rule: finding.severity for finding in find(planned_report(plan, offered[0], TABLES, DAY), TABLES)}
    assert found["driver-older-than-card"] == "broken"
