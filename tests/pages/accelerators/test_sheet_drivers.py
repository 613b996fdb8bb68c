"""A sheet names the first and the last branch of the NVIDIA driver: those that the planner and the rules refuse by."""

import re

import pytest
from django.urls import reverse

from stackviz.pages.accelerators.sheet import read_sheet
from stackviz.pages.plan.support import may_run
from stackviz.pages.plan.targets import find_target
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.card_drivers import card_drivers
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules.drivers import driver_branch, knows_card, last_branch
from tests.languages import chinese


def line_of(client, slug: str, translate=str) -> str:
    page = client.get(translate(reverse("accelerators:sheet", args=[slug]))).content.decode()
    found = re.search(r'<p class="card-drivers">(.*?)</p>', page, re.DOTALL)
    return re.sub(r"\s+", " ", found[1]).strip() if found else ""


@pytest.mark.parametrize(
    ("slug", "words"),
    [
        ("nvidia-geforce-rtx-5090", "R570 or newer on Linux and Windows <"),
        ("nvidia-v100-sxm2", "R384 or newer on Linux and Windows, up to R580, the last branch <"),
        ("nvidia-k80", "the first branch is not on record, up to R470, the last branch <"),
        ("nvidia-gb200", "R570 or newer on Linux <"),
        ("nvidia-dgx-spark-gb10", "R575 or newer on Linux <"),
    ],
)
def test_a_sheet_names_the_branches_for_the_card(curated, client, db, slug, words):
    line = line_of(client, slug)
    assert words in line
    assert "https://docs.nvidia.com/" in line


@pytest.mark.parametrize("slug", ["nvidia-jetson-agx-orin-64gb", "amd-mi300x", "apple-m3-max-40"])
def test_no_branch_is_named_for_others(curated, client, db, slug):
    assert line_of(client, slug) == ""


def test_the_line_is_translated(curated, client, db):
    assert "R570" in line_of(client, "nvidia-geforce-rtx-5090", chinese)
    assert "or newer" not in line_of(client, "nvidia-geforce-rtx-5090", chinese)


def test_sheet_and_planner_know_the_same_cards_and_systems(curated, db):
    tables = rule_tables()
    named = 0
    for accelerator in public_catalogue().accelerators:
        drivers = card_drivers(tables, accelerator)
        if drivers is None:
            continue
        named += 1
        target = find_target(tables, accelerator.slug)
        assert target.capability == drivers.capability
        systems = {"linux": ("linux-x86_64", "linux-aarch64"), "windows": ("windows-x86_64",)}
        for system, row in drivers.first.items():
            assert any(may_run(target, key) for key in systems[system]), (accelerator.slug, system)
            assert knows_card(tables, row.low, drivers.capability, system), (accelerator.slug, system)
            before = str(int(row.low) - 1)
            assert not knows_card(tables, before, drivers.capability, system), (accelerator.slug, system)
        assert (drivers.last.values if drivers.last else "") == last_branch(tables, drivers.capability)
        if drivers.last:
            assert driver_branch(tables, f"{drivers.last.values}.10", "linux") == drivers.last.values
            assert not knows_card(tables, "620.10", drivers.capability, "linux")
    assert named > 150


def test_a_past_sheet_names_no_driver(curated, db):
    accelerator = public_catalogue().by_slug["nvidia-geforce-rtx-5090"]
    changed = read_sheet(accelerator)["changed_at"]
    assert read_sheet(accelerator, changed)["drivers"] is None


def test_the_api_names_the_branches(curated, client, db):
    answer = client.get("/api/v1/accelerators/nvidia-v100-pcie/").json()["drivers"]
    assert (answer["linux"], answer["windows"], answer["last"]) == ("384", "384", "580")
    assert all(url.startswith("https://docs.nvidia.com/") for url in answer["sources"])
    assert client.get("/api/v1/accelerators/nvidia-gb200/").json()["drivers"]["windows"] is None
    assert client.get("/api/v1/accelerators/apple-m3-max-40/").json()["drivers"] is None
