"""Since and until: a component is drawn only where its release and the architecture allow it."""

from dataclasses import replace

import pytest

from stackviz.draw.diagrams.boxes import Box, RequirementLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.records.catalog.models import Accelerator
from stackviz.records.stacks.architectures import FAMILY, architectures_of_cards, architectures_of_sheets, metal_family
from stackviz.records.stacks.limits import compare_releases, drop_impossible, is_impossible, is_limits
from stackviz.records.stacks.models import Placement
from stackviz.records.stacks.queries import described_column
from stackviz.records.stacks.reported import reported_column
from stackviz.report.format import Card, Software
from tests.report.rules.build import linux

TORCH_COMPILE = {"torchdynamo", "aotautograd", "primtorch", "torchinductor"}


def box(since="", until="", component="dynamo"):
    return Box(
        component=component, role=component, layer=Layer.COMPILER, name=component.title(), since=since, until=until
    )


@pytest.mark.parametrize(
    ("release", "limit", "side"),
    [
        ("1.10.1", "2.0", -1), ("2.0.0", "2.0", 0), ("2.0.1+cu118", "2.0", 0), ("2", "2.0", 0), ("2.1.0", "2.0", 1),
        ("6.1", "7.5", -1), ("10.0", "7.5", 1), ("Apple9", "Apple10", -1), ("Apple10", "Apple10", 0),
        ("", "2.0", 0), ("unknown", "2.0", 0), ("1.14.0a0+410ce96", "2.0", 0), ("1.14.0.dev20221101", "2.0", 0),
    ],
)  # fmt: skip
def test_a_release_is_before_a_limit_within_it_or_after_it(release, limit, side):
    assert compare_releases(release, limit) == side


@pytest.mark.parametrize(
    ("since", "until", "known", "is_out"),
    [
        ("pytorch 2.0", "", {"pytorch": ["1.11.0"]}, True),
        ("pytorch 2.0", "", {"pytorch": ["2.0.0"]}, False),
        ("pytorch 2.0", "", {"pytorch": [""]}, False),
        ("pytorch 2.0", "", {}, False),
        ("", "jax 0.4", {"jax": ["0.4.38"]}, False),
        ("", "jax 0.4", {"jax": ["0.5.0"]}, True),
        ("compute-capability 7.5", "", {"compute-capability": ["6.1", "8.6"]}, False),
        ("compute-capability 7.5", "", {"compute-capability": ["6.1", ""]}, False),
        ("compute-capability 7.5", "", {"compute-capability": ["6.1", "7.0"]}, True),
        ("pytorch 2.0, compute-capability 7.5", "", {"pytorch": ["2.9.0"], "compute-capability": ["6.1"]}, True),
    ],
)
def test_a_component_is_out_where_its_release_is_known(since, until, known, is_out):
    assert is_impossible(box(since, until), known) is is_out


def test_what_calls_a_dropped_component_no_longer_names_it():
    caller = replace(box(component="pytorch"), calls=("Dynamo", "Cudnn"))
    links = (RequirementLink("pytorch", "dynamo", State.DESCRIBED, "needs"),)
    column = StackColumn(
        key="", title="", subtitle="", url="", boxes=(caller, box("pytorch 2.0"), box(component="cudnn")), links=links
    )
    left = drop_impossible(column, {"pytorch": ["1.10.1"]})
    *there, gone = left.boxes
    assert [(box.component, box.calls) for box in there] == [("pytorch", ("Cudnn",)), ("cudnn", ())]
    assert (gone.state, gone.name, gone.summary) == (State.ABSENT, "", "Dynamo: from pytorch 2.0 on")
    assert left.links == ()


def test_a_component_that_was_reported_stays_whatever_the_limits():
    column = StackColumn(key="", title="", subtitle="", url="", boxes=(box("pytorch 2.0"),))
    assert drop_impossible(column, {"pytorch": ["1.10.1"]}, reported=["dynamo"]) is column


@pytest.mark.parametrize(
    ("text", "is_right"),
    [("pytorch 2.0", True), ("metal-family Apple10", True), ("pytorch 2.0, nvidia-driver 470", True),
     ("pytorch", False), ("2.0", False), ("pytorch >= 2.0", False), ("", False), ("pytorch 2.0,", False)],
)  # fmt: skip
def test_limits_are_components_with_a_release(text, is_right):
    assert is_limits(text) is is_right


def drawn(cards=(), torch="2.9.0", stack="nvidia-cuda", driver="580.95.05"):
    software = (Software("pytorch", torch, "torch"), Software("nvidia-driver", driver, "nvml"))
    report = replace(linux(), cards=tuple(cards), software=software, facts={"os.name": "Ubuntu"})
    sheets = [None for _card in cards]
    column = reported_column(report, described_column(stack), sheets, (), key="machine:a/b", title="b")
    return {box.component for box in column.boxes if box.state != State.ABSENT}


def card(name, vendor="nvidia", **facts):
    return Card(index=0, kind="gpu", vendor=vendor, reported_name=name, memory_bytes=None, facts=facts)


@pytest.mark.parametrize("torch", ["1.10.1", "1.11.0+cu113", "1.13.1"])
def test_torch_1_is_drawn_without_torch_compile(stacks, torch):
    assert TORCH_COMPILE & drawn(torch=torch) == set()


def test_a_machine_with_torch_2_is_drawn_with_them(stacks):
    assert drawn(torch="2.0.0+cu117") >= TORCH_COMPILE


def test_a_pascal_card_is_drawn_without_tensor_cores(stacks):
    names = ("NVIDIA GeForce MX250", "NVIDIA GeForce GTX 1080")
    for pascal in (card(names[0]), card(names[1]), card("A card", compute_capability="6.1")):
        assert {"gsp-firmware", "tensor-core"} & drawn([pascal]) == set()


def test_turing_and_unknown_cards_are_drawn_with_gsp_firmware(stacks):
    for known in (card("A card", compute_capability="7.5"), card("A card of tomorrow")):
        assert "gsp-firmware" in drawn([known])
    assert "gsp-firmware" in drawn([card("NVIDIA GeForce MX250"), card("NVIDIA GeForce RTX 3090")])


@pytest.mark.parametrize(
    ("name", "family"),
    [("Apple M1", "Apple7"), ("Apple M3 Max", "Apple9"), ("Apple M4 Pro", "Apple9"), ("Apple M5 Max", "Apple10"),
     ("Apple A17 Pro", "Apple9"), ("Apple A18 Pro", "Apple9"), ("Apple A19", "Apple10"), ("Apple M99", ""),
     ("AMD Radeon Pro 5500M", "")],
)  # fmt: skip
def test_the_name_of_a_chip_says_its_metal_family(name, family):
    assert metal_family(name) == family


def test_a_mac_is_drawn_with_neural_accelerators_from_m5_on(stacks):
    assert "neural-accelerator" not in drawn([card("Apple M3 Max", "apple")], stack="apple-metal")
    for name in ("Apple M5 Max", "Apple M99"):
        assert "neural-accelerator" in drawn([card(name, "apple")], stack="apple-metal")


def test_the_catalogue_agrees_with_the_names_of_chips(curated, db):
    rows = [row for row in Accelerator.objects.filter(vendor__slug="apple") if metal_family(row.name)]
    stated = architectures_of_sheets(rows)[FAMILY]
    assert len(rows) > 20
    by_name = [metal_family(row.name) for row in rows]
    assert [pair for pair in zip(by_name, stated, strict=True) if pair[1] not in ("", pair[0])] == []


def test_architectures_are_those_of_the_cards():
    cards = [card("NVIDIA GeForce MX250"), card("x", compute_capability="9.0"), card("y", "amd")]
    assert architectures_of_cards(cards) == {"compute-capability": ("6.1", "9.0")}


def test_limits_of_the_files_are_those_of_the_database(stacks):
    placed = Placement.objects.get(stack__slug="nvidia-cuda", component__slug="torchdynamo")
    assert (placed.since, placed.until) == ("pytorch 2.0", "")
