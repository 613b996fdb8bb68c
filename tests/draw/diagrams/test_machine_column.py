"""A described stack filled with what a machine reported."""

from dataclasses import dataclass, field, replace

import pytest

from stackviz.draw.diagrams.boxes import Box, ReportedComponent, StackColumn
from stackviz.draw.diagrams.columns import machine_column, sheet_column
from stackviz.draw.diagrams.layers import Layer, State


@dataclass(frozen=True)
class FakeFinding:
    component: str
    severity: str
    title: str
    evidence: dict[str, str] = field(default_factory=dict)


DESCRIBED = StackColumn(
    key="stack:nvidia-cuda",
    title="NVIDIA CUDA on Linux",
    subtitle="",
    url="/stacks/nvidia-cuda/",
    boxes=(
        Box(component="pytorch", role="framework", layer=Layer.FRAMEWORK, name="PyTorch", version='device "cuda"'),
        Box(component="jax", role="framework", layer=Layer.FRAMEWORK, name="JAX"),
        Box(component="mkl", role="cpu-math", layer=Layer.LIBRARY, name="Intel MKL"),
        Box(component="openblas", role="cpu-math", layer=Layer.LIBRARY, name="OpenBLAS"),
        Box(
            component="nvidia-driver",
            role="device-driver",
            layer=Layer.DRIVER,
            name="NVIDIA driver",
            version="≥ 525.60.13",
        ),
        Box(component="nvml", role="telemetry", layer=Layer.DRIVER, name="NVML", part_of="nvidia-driver"),
        Box(component="nvidia-gpu", role="accelerator", layer=Layer.HARDWARE, name="NVIDIA GPU", summary="A card."),
        Box(
            component="device-memory",
            role="memory",
            layer=Layer.HARDWARE,
            name="Device memory",
            summary="Memory on the card.",
        ),
        Box(
            component="nccl",
            role="collectives",
            layer=Layer.LIBRARY,
            name="NCCL",
            state=State.ABSENT,
            summary="None here.",
        ),
    ),
)
CARD = Box(
    component="hardware",
    role="accelerator",
    layer=Layer.HARDWARE,
    name="8 × H100",
    version="80 GiB",
    state=State.REPORTED,
)


def machine(found=(), hardware=(), findings=()) -> dict[str, Box]:
    column = machine_column(DESCRIBED, components=found, hardware=hardware, findings=findings)
    return {box.role: box for box in column.boxes}


def test_reported_version_replaces_requirement():
    driver = machine([ReportedComponent("nvidia-driver", "535.183.01", "nvml")])["device-driver"]
    assert (driver.version, driver.state) == ("535.183.01", State.REPORTED)


def test_a_component_without_a_version_is_there_all_the_same():
    driver = machine([ReportedComponent("nvidia-driver", None, "lsmod")])["device-driver"]
    assert (driver.version, driver.state) == ("", State.REPORTED)


def test_what_was_not_reported_says_so_and_names_no_version():
    driver = machine()["device-driver"]
    assert (driver.version, driver.state, driver.state.label) == ("", State.UNKNOWN, "not reported")


def test_of_alternatives_only_the_reported_one_is_shown():
    column = machine_column(DESCRIBED, components=[ReportedComponent("pytorch", "2.9.0", "")], hardware=(), findings=())
    assert [box.name for box in column.boxes if box.role == "framework"] == ["PyTorch"]


def test_unreported_alternatives_share_one_box():
    math = machine()["cpu-math"]
    assert (math.name, math.state) == ("Intel MKL / OpenBLAS", State.UNKNOWN)


def test_a_part_is_there_when_its_whole_is():
    assert machine([ReportedComponent("nvidia-driver", "1", "")])["telemetry"].state == State.REPORTED
    assert machine()["telemetry"].state == State.UNKNOWN


def test_what_the_stack_lacks_stays_absent_on_its_machines():
    assert machine([ReportedComponent("nccl", "2.27", "")])["collectives"].state == State.ABSENT


def test_reported_hardware_takes_the_place_of_the_described():
    boxes = [box.name for box in sheet_column(DESCRIBED, [CARD]).boxes if box.layer == Layer.HARDWARE]
    assert boxes == ["8 × H100", "Device memory"]


def test_reported_hardware_keeps_what_is_said_about_its_kind():
    memory = Box(
        component="device-memory",
        role="memory",
        layer=Layer.HARDWARE,
        name="Device memory",
        version="8 × 80 GiB",
        state=State.REPORTED,
    )
    assert machine(hardware=[memory])["memory"].summary == "Memory on the card."


def test_unknown_hardware_is_added_last():
    extra = Box(
        component="main-memory",
        role="host-memory",
        layer=Layer.HARDWARE,
        name="Main memory",
        version="2 TiB",
        state=State.REPORTED,
    )
    assert sheet_column(DESCRIBED, [extra]).boxes[-1].name == "Main memory"


@pytest.mark.parametrize(
    ("severities", "state"),
    [
        (["fits"], State.FITS),
        (["note"], State.REPORTED),
        (["cannot-tell"], State.REPORTED),
        (["fits", "warning"], State.WARNING),
        (["broken", "fits", "warning"], State.BROKEN),
        (["a word of tomorrow"], State.REPORTED),
    ],
)
def test_a_box_is_in_the_worst_state_of_its_findings(severities, state):
    findings = [FakeFinding("nvidia-driver", severity, severity) for severity in severities]
    driver = machine([ReportedComponent("nvidia-driver", "1", "")], findings=findings)["device-driver"]
    assert driver.state == state
    assert [note.text for note in driver.notes] == severities


def test_a_finding_about_the_cards_colours_the_cards():
    assert (
        machine(hardware=[CARD], findings=[FakeFinding("hardware", "broken", "x")])["accelerator"].state == State.BROKEN
    )


def test_a_finding_about_nothing_in_particular_colours_no_box():
    column = machine_column(DESCRIBED, components=(), hardware=(), findings=[FakeFinding("", "broken", "x")])
    assert not any(box.notes for box in column.boxes)


def test_card_findings_stay_on_their_boxes():
    said = FakeFinding("hardware", "warning", "runs at 4 lanes", {"card 10": "T4", "card 10 pcie_width": "4"})
    boxes = [replace(CARD, cards=(1,)), replace(CARD, cards=(9, 10))]
    column = machine_column(DESCRIBED, components=(), hardware=boxes, findings=[said])
    assert [box.state for box in column.boxes if box.cards] == [State.REPORTED, State.WARNING]
    of_all = replace(said, evidence={"torch.version": "2.15.0"})
    column = machine_column(DESCRIBED, components=(), hardware=boxes, findings=[of_all])
    assert [box.state for box in column.boxes if box.cards] == [State.WARNING, State.WARNING]
