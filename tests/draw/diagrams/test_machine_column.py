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


def box(component, role, layer, name, version="", **more):
    return Box(component=component, role=role, layer=layer, name=name, version=version, **more)


LIBRARY, DRIVER, HARDWARE = Layer.LIBRARY, Layer.DRIVER, Layer.HARDWARE
DESCRIBED = StackColumn(
    key="stack:nvidia-cuda",
    title="NVIDIA CUDA on Linux",
    subtitle="",
    url="/stacks/nvidia-cuda/",
    boxes=(
        box("pytorch", "framework", Layer.FRAMEWORK, "PyTorch", 'device "cuda"'),
        box("jax", "framework", Layer.FRAMEWORK, "JAX"),
        box("mkl", "cpu-math", LIBRARY, "Intel MKL"),
        box("openblas", "cpu-math", LIBRARY, "OpenBLAS"),
        box("nvidia-driver", "device-driver", DRIVER, "NVIDIA driver", "≥ 525.60.13"),
        box("nvml", "telemetry", DRIVER, "NVML", part_of="nvidia-driver"),
        box("nvidia-gpu", "accelerator", HARDWARE, "NVIDIA GPU", summary="A card."),
        box("device-memory", "memory", HARDWARE, "Device memory", summary="Memory on the card."),
        box("nccl", "collectives", LIBRARY, "NCCL", state=State.ABSENT, summary="None here."),
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


@pytest.mark.parametrize(("found", "version"), [("535.183.01", "535.183.01"), (None, "")])
def test_reported_version_replaces_requirement(found, version):
    driver = machine([ReportedComponent("nvidia-driver", found, "nvml")])["device-driver"]
    assert (driver.version, driver.state) == (version, State.REPORTED)
    driver = machine()["device-driver"]
    assert (driver.version, driver.state, driver.state.label) == ("", State.UNKNOWN, "not reported")


def test_of_alternatives_the_reported_one_is_shown_or_one_box():
    column = machine_column(DESCRIBED, components=[ReportedComponent("pytorch", "2.9.0", "")], hardware=(), findings=())
    assert [box.name for box in column.boxes if box.role == "framework"] == ["PyTorch"]
    math = machine()["cpu-math"]
    assert (math.name, math.state) == ("Intel MKL / OpenBLAS", State.UNKNOWN)


def test_parts_and_absent_components_follow_the_stack():
    assert machine([ReportedComponent("nvidia-driver", "1", "")])["telemetry"].state == State.REPORTED
    assert machine()["telemetry"].state == State.UNKNOWN
    assert machine([ReportedComponent("nccl", "2.27", "")])["collectives"].state == State.ABSENT


def test_reported_hardware_takes_the_place_of_the_described():
    boxes = [box.name for box in sheet_column(DESCRIBED, [CARD]).boxes if box.layer == HARDWARE]
    assert boxes == ["8 × H100", "Device memory"]
    memory = box("device-memory", "memory", HARDWARE, "Device memory", "8 × 80 GiB", state=State.REPORTED)
    assert machine(hardware=[memory])["memory"].summary == "Memory on the card."
    extra = box("main-memory", "host-memory", HARDWARE, "Main memory", "2 TiB", state=State.REPORTED)
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


def test_a_finding_colours_the_boxes_it_is_about():
    of_cards = FakeFinding("hardware", "broken", "x")
    assert machine(hardware=[CARD], findings=[of_cards])["accelerator"].state == State.BROKEN
    column = machine_column(DESCRIBED, components=(), hardware=(), findings=[replace(of_cards, component="")])
    assert not any(box.notes for box in column.boxes)


def test_card_findings_stay_on_their_boxes():
    said = FakeFinding("hardware", "warning", "runs at 4 lanes", {"card 10": "T4", "card 10 pcie_width": "4"})
    boxes = [replace(CARD, cards=(1,)), replace(CARD, cards=(9, 10))]
    column = machine_column(DESCRIBED, components=(), hardware=boxes, findings=[said])
    assert [box.state for box in column.boxes if box.cards] == [State.REPORTED, State.WARNING]
    of_all = replace(said, evidence={"torch.version": "2.15.0"})
    column = machine_column(DESCRIBED, components=(), hardware=boxes, findings=[of_all])
    assert [box.state for box in column.boxes if box.cards] == [State.WARNING, State.WARNING]
