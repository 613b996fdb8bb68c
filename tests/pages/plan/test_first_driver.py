"""A driver that is older than a card's generation runs nothing on it: in plans and for the rules, of every release."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from stackviz.pages.plan.builds import PlanOutcome, builds, choose_build, judge_plan, outcome_of, planned_report
from stackviz.pages.plan.planned_machine import SYSTEMS, PlannedMachine
from stackviz.report.format import NOBODY, Agent, Card, Machine, Report
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


def a_report(name: str, facts: dict[str, object]):
    usual = {
        "os.name": "Ubuntu",
        "torch.version": "2.14.1+cu126",
        "torch.cuda_version": "12.6",
        "cuda.available": False,
    }
    return Report(
        id=uuid4(),
        created_at=DAY,
        agent=Agent("test", "1"),
        machine=Machine(NOBODY),
        facts=usual | facts,
        cards=(Card(index=0, kind="gpu", vendor="nvidia", reported_name=name, facts={}),),
    )


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


@pytest.mark.parametrize(("name", "last"), [("Tesla V100-SXM2-16GB", "580"), ("NVIDIA H100 80GB HBM3", "")])
def test_no_advice_names_a_driver_beyond_the_last_branch(name, last):
    """Every rule that sends to a newer driver bounds it by the card: a WSL too old, a driver not found, one too old."""
    broken = {
        "wsl2-old-windows": {"os.wsl": "2", "os.build": "10.0.19042", "cuda.available": False},
        "smi-no-driver": {"os.name": "Windows", "nvidia.nvml_error": "NVML: Driver Not Loaded"},
        "driver-too-old": {"nvidia.driver_version": "470.57.02"},
    }
    for rule, facts in broken.items():
        report = a_report(name, facts)
        texts = [f"{found.explanation} {found.advice}" for found in find(report, TABLES) if found.rule == rule]
        assert texts, rule
        assert ("R580" in texts[0]) == bool(last), texts


def test_a_driver_beyond_the_tables_is_not_known():
    plan = machine("9.0", "linux-x86_64", "2.14.1", "999.10")
    build = choose_build(builds(plan, TABLES, DAY), plan, TABLES, DAY)
    _report, findings = judge_plan(plan, build, TABLES, DAY)
    assert outcome_of(plan, build, findings) is PlanOutcome.UNKNOWN
    newest = TABLES.releases_of("nvidia-driver", "linux")[-1].version
    assert {found.title for found in findings if found.severity == "cannot-tell"} == {
        f"Cannot tell whether driver 999.10 still supports capability 9.0: R{newest} is the newest branch on record"
    }
    volta = machine("7.0", "linux-x86_64", "2.14.1", "999.10")  # it was dropped, and stays dropped
    assert choose_build(builds(volta, TABLES, DAY), volta, TABLES, DAY) is None
