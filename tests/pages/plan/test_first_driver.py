"""A driver that is older than a card's generation runs nothing on it: in plans and for the rules, of every release."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from stackviz.pages.plan.branches import branches
from stackviz.pages.plan.builds import Build, PlanOutcome, builds, choose_build, may_start, planned_report
from stackviz.pages.plan.planned_machine import SYSTEMS, PlannedMachine
from stackviz.pages.plan.releases import torch_releases
from stackviz.report.rules import find, is_broken, packaged_tables
from stackviz.report.rules.drivers import first_branch, needed_driver, shipped_drivers
from stackviz.report.rules.known_cards import KnownCard

DAY = datetime(2026, 11, 20, tzinfo=UTC)
TABLES = packaged_tables()
FIRST = {  # NVIDIA's matrix of first toolkits, and the branches these came with; 8.7, 10.3 and 12.1 are not in it
    "6.0": 367, "6.1": 367, "7.0": 384, "7.5": 410, "8.0": 450, "8.6": 450, "8.7": 450, "8.9": 520, "9.0": 520,
    "10.0": 570, "10.3": 570, "12.0": 570, "12.1": 570,
}  # fmt: skip
LAST = {"6.0": 580, "6.1": 580, "7.0": 580}
BRANCHES = sorted({int(row.version) for row in TABLES.releases_of("nvidia-driver", "linux")})


def machine(capability: str, system: str, torch: str, driver: str = "") -> PlannedMachine:
    card = KnownCard(
        reported_name="A card", vendor="nvidia", accelerator="a", memory_bytes=None, compute_capability=capability
    )
    return PlannedMachine(system=SYSTEMS[system], torch=torch, card=card, driver=driver)


def running_builds(capability: str, system: str) -> list[tuple[PlannedMachine, Build]]:
    """Of each CUDA the newest release of torch that runs on the card: drivers see no more of a build."""
    found: dict[str, tuple[PlannedMachine, Build]] = {}
    for torch in torch_releases(TABLES, SYSTEMS[system].wheel):
        plan = machine(capability, system, torch)
        for build in builds(plan, TABLES, DAY):
            if build.outcome is not PlanOutcome.FAILS:
                found.setdefault(build.cuda, (plan, build))
    return list(found.values())


@pytest.mark.parametrize("system", ["linux-x86_64", "windows-x86_64"])
@pytest.mark.parametrize("capability", FIRST)
def test_no_branch_before_the_first_or_after_the_last_runs_a_torch(capability, system):
    running = running_builds(capability, system)
    assert running
    for plan, build in running:
        for branch in BRANCHES:
            other = replace(plan, driver=str(branch))
            is_outside = not FIRST[capability] <= branch <= LAST.get(capability, branch)
            if is_outside:
                assert choose_build([build], other, TABLES, DAY) is None, (build.name, branch)
            if is_outside or not may_start(other, build.cuda, TABLES):
                assert is_broken(planned_report(other, build, TABLES, DAY), TABLES), (build.name, branch)
        offered = [int(row.release.version) for row in branches(plan, build, TABLES, DAY) if row.serves]
        assert offered
        assert FIRST[capability] <= min(offered) <= max(offered) <= LAST.get(capability, 9999)


@pytest.mark.parametrize("platform", ["linux", "windows"])
@pytest.mark.parametrize("capability", FIRST)
def test_the_first_branch_is_the_one_of_the_first_toolkit(capability, platform):
    first = first_branch(TABLES, capability, platform)
    assert first.low == str(FIRST[capability])
    [toolkit] = [
        row for row in TABLES.rows("compute-capability", "needs", "cuda-toolkit") if row.version == first.version
    ]
    shipped = shipped_drivers(TABLES, toolkit.low, platform)[0].values
    assert 0 <= int(shipped.split(".")[0]) - FIRST[capability] < 5  # on Windows R410 begins with 411
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
