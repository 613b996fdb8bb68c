"""Requirement tables and links: of a described stack from the newest releases, of a machine from what it has."""

from dataclasses import dataclass, field

import pytest

from stackviz.draw.diagrams.boxes import Box, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.records.stacks import requirements
from stackviz.records.stacks.requirements import (
    MOST_NEEDS,
    DescribedColumn,
    by_component,
    described_needs,
    reported_needs,
)
from stackviz.report.rules import packaged_tables

LINUX = {"os.name": "Ubuntu", "os.arch": "x86_64", "python.arch": "x86_64", "os.libc": "glibc 2.35"}


@dataclass(frozen=True)
class Said:
    rule: str
    component: str
    severity: str
    title: str
    evidence: dict[str, str] = field(default_factory=dict)


def box(component: str, layer: Layer, version: str = "", state: State = State.REPORTED) -> Box:
    return Box(
        component=component,
        role=component,
        layer=layer,
        name=component.title(),
        version=version,
        state=state,
        url=f"/components/{component}/",
    )


def boxes(**versions: str) -> tuple[Box, ...]:
    layers = {
        "python": Layer.APPLICATION,
        "pytorch": Layer.FRAMEWORK,
        "cudnn": Layer.LIBRARY,
        "cuda-runtime": Layer.PLATFORM,
        "nvidia-driver": Layer.DRIVER,
        "linux": Layer.OS,
    }
    return tuple(box(name, layer, versions.get(name.replace("-", "_"), "")) for name, layer in layers.items())


@pytest.fixture(scope="module")
def demands():
    return by_component(packaged_tables().requirements)


def machine(demands, *findings: Said, is_brief: bool = False, **versions: str) -> StackColumn:
    column = StackColumn(
        key="m",
        title="m",
        subtitle="",
        url="/m/",
        boxes=(*boxes(**versions), box("hardware", Layer.HARDWARE, "80 GiB")),
    )
    return reported_needs(column, demands, LINUX, ["9.0"], findings, is_brief=is_brief)


def table(column: StackColumn, component: str) -> dict[tuple[str, str], object]:
    requires = next(box.requires for box in column.boxes if box.component == component)
    return {(need.relation, need.subject): need for need in requires.needs} if requires else {}


def described(demands, slug: str, system: str, *more: Box) -> StackColumn:
    column = DescribedColumn(
        key=f"stack:{slug}", title=slug, subtitle="", url="/s/", boxes=(*boxes(), *more), demands=demands
    )
    return described_needs(column, system)


def test_a_brief_column_names_the_release_and_lists_nothing(demands):
    versions = {"pytorch": "2.9.0+cu130", "nvidia_driver": "580.65.06", "cuda_runtime": "13.0.48"}
    full, brief = (machine(demands, is_brief=is_brief, **versions) for is_brief in (False, True))
    for box_of_full, box_of_brief in zip(full.boxes, brief.boxes, strict=True):
        assert bool(box_of_full.requires) == bool(box_of_brief.requires)
        if box_of_full.requires and box_of_brief.requires:
            assert box_of_full.requires.needs
            assert (box_of_brief.requires.release, box_of_brief.requires.needs) == (box_of_full.requires.release, ())
    assert any(box.requires for box in brief.boxes)


def test_described_stack_shows_newest_release(demands):
    column = described(demands, "nvidia-cuda", "linux")
    requires = next(box.requires for box in column.boxes if box.component == "pytorch")
    assert requires.is_newest
    assert requires.release >= "2.15"
    assert len(requires.needs) <= MOST_NEEDS


def test_a_described_stack_is_tied_by_what_its_releases_need(demands):
    gpu = box("nvidia-gpu", Layer.HARDWARE)
    links = {
        (link.source_component, link.target_component): link
        for link in described(demands, "nvidia-cuda", "linux", gpu).links
    }
    assert links["cuda-runtime", "nvidia-driver"].text == "needs Nvidia-Driver ≥ 580.65.06"
    assert ("pytorch", "nvidia-gpu") in links
    assert ("cudnn", "nvidia-gpu") not in links  # as every library does: that stands in its table
    assert {link.state for link in links.values()} == {State.DESCRIBED}


def test_another_system_asks_for_another_driver(demands):
    on = {name: described(demands, "nvidia-windows", name) for name in ("linux", "windows")}
    texts = {
        name: {link.text for link in column.links if link.target_component == "nvidia-driver"}
        for name, column in on.items()
    }
    assert texts["linux"] != texts["windows"]


def test_under_wsl_the_driver_is_the_one_of_windows(demands):
    wsl = described(demands, "nvidia-wsl2", "linux")
    linux = described(demands, "nvidia-cuda", "linux")
    driver = {
        column.key: [link.text for link in column.links if link.source_component == "cudnn"] for column in (wsl, linux)
    }
    assert driver["stack:nvidia-wsl2"] != driver["stack:nvidia-cuda"]


def test_a_jetson_needs_no_branch_of_the_driver_for_cards(demands):
    """Its driver comes with Jetson Linux, and its numbers are others."""
    jetson = described(demands, "nvidia-jetson", "jetson")
    assert [link.text for link in jetson.links if link.target_component == "nvidia-driver"] == []
    spark = described(demands, "nvidia-dgx-spark", "dgx-os")
    assert [link.text for link in spark.links if link.target_component == "nvidia-driver"] != []


def test_machine_shows_requirements_beside_versions(demands):
    column = machine(demands, pytorch="2.9.0+cu128", python="3.12.4", cudnn="9.10.2", cuda_runtime="12.8")
    needs = table(column, "pytorch")
    assert needs["needs", "python"].has == "3.12.4"
    assert needs["needs", "glibc"].has == "2.35"
    assert table(column, "cuda-runtime")["needs", "nvidia-driver"].how_much == "≥ 525.60.13"


def test_of_builds_only_the_one_that_runs_is_told(demands):
    column = machine(demands, pytorch="2.9.0+cu128")
    built = [need for key, need in table(column, "pytorch").items() if key[0] == "has code for"]
    assert len(built) <= 1


@pytest.mark.parametrize("version", ["", "unknown", "0.0.1"])
def test_a_release_nobody_knows_has_no_table(demands, version):
    assert table(machine(demands, cuda_runtime=version), "cuda-runtime") == {}


@pytest.mark.parametrize(
    ("severity", "state"),
    [("fits", State.FITS), ("broken", State.BROKEN), ("cannot-tell", State.UNKNOWN), ("note", State.DESCRIBED)],
)
def test_what_a_rule_compared_is_a_link(demands, severity, state):
    finding = Said("driver-too-old", "cuda-runtime", severity, "CUDA 12.8 needs driver 525.60.13 or newer")
    column = machine(demands, finding, cuda_runtime="12.8", nvidia_driver="535.183.01")
    (link,) = column.links
    assert (link.source_component, link.target_component, link.state) == ("cuda-runtime", "nvidia-driver", state)
    assert table(column, "cuda-runtime")["needs", "nvidia-driver"].state == state


def test_a_rule_about_one_thing_alone_ties_nothing(demands):
    assert machine(demands, Said("power-limit", "hardware", "note", "lowered")).links == ()


def test_a_verdict_about_what_is_not_drawn_ties_nothing(demands):
    column = StackColumn(key="m", title="m", subtitle="", url="/m/", boxes=(box("pytorch", Layer.FRAMEWORK, "2.9.0"),))
    finding = Said("driver-too-old", "cuda-runtime", "broken", "too old")
    assert reported_needs(column, demands, LINUX, (), (finding,)).links == ()


def test_requirements_of_a_release_are_selected_once(demands, monkeypatch):
    stated = demands.of_release("pytorch", ("", "linux", "linux-x86_64"), "2.9.0+cu128")
    assert stated
    assert demands.of_release("pytorch", ("", "linux", "linux-x86_64"), "2.9.0+cu128") is stated
    assert demands.of_release("pytorch", ("", "windows", "windows-x86_64"), "2.9.0+cu128") != stated
    monkeypatch.setattr(requirements, "MOST_REMEMBERED", 8)
    for number in range(20):
        demands.of_release("pytorch", ("",), f"2.{number}")
    assert len(demands._stated) <= 8


@pytest.mark.parametrize(
    ("release", "torch"), [("0.33.0", "2.14.0"), ("0.28.0", "2.13.0"), ("0.10.1", None), ("0.34.0", None)]
)
def test_a_pinned_release_is_of_the_release_that_pins_it(demands, release, torch):
    """vLLM takes one torch, and its next release another: nothing is known of releases between and after."""
    rows = demands.of_release("vllm", ("", "linux", "linux-x86_64"), release)
    assert [row.values for row in rows if row.subject == "pytorch"] == ([torch] if torch else [])
    assert any(row.subject == "python" for row in rows)
