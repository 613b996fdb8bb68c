"""A machine's report as a column of its stack."""

from dataclasses import replace

import pytest

from stackviz.draw.diagrams.boxes import Box
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.records.stacks.queries import described_column
from stackviz.records.stacks.reported import reported_column, stack_slug
from stackviz.report.dumps.components import components
from stackviz.report.format import Absent, Card, Software
from stackviz.report.rules import judge, packaged_tables
from tests.report.rules.build import H100, LINUX, card, linux

GIB = 2**30


FOUND = (
    Software("python", "3.12.4", "platform"),
    Software("pytorch", "2.13.0+cu130", "torch"),
    Software("cudnn", "9.20.0", "torch"),
    Software("nvidia-driver", "580.95.05", "nvml"),
    Software("linux", "6.8.0", "os.uname"),
    Software("a-component-of-tomorrow", None, ""),
)
MEMORY = {"memory.total_bytes": 2048 * GIB, "cpu.model": "AMD EPYC 9654", "cpu.cores_logical": 192}


def h100(index=0, name="NVIDIA H100 80GB HBM3", memory_bytes=80 * GIB):
    return Card(index=index, kind="gpu", vendor="nvidia", reported_name=name, memory_bytes=memory_bytes, facts=H100)


def column(cards=(), facts=None, software=FOUND, findings=(), stack="nvidia-cuda", sheets=None):
    told = {**LINUX, **MEMORY, **(facts or {})}
    report = replace(linux(), facts=told, cards=tuple(cards), software=tuple(software))
    described = described_column(stack)
    return reported_column(
        report, described, sheets or [None for _ in cards], findings, key="machine:a/b", title="b", url="/b/"
    )


def boxes(**options) -> dict[str, Box]:
    return {box.component: box for box in column(**options).boxes}


@pytest.mark.parametrize(
    ("facts", "vendors", "stack"),
    [
        ({"os.name": "Ubuntu"}, ["nvidia"], "nvidia-cuda"),
        ({}, ["nvidia"], "nvidia-cuda"),
        ({"os.name": "Ubuntu", "os.wsl": "2"}, ["nvidia"], "nvidia-wsl2"),
        ({"os.name": "Windows"}, ["nvidia", "amd"], "nvidia-windows"),
        ({"os.name": "Microsoft Windows"}, ["nvidia"], "nvidia-windows"),
        ({"os.name": "Ubuntu"}, ["intel", "amd"], "amd-rocm"),
        ({"os.name": "Windows"}, ["amd"], "amd-rocm-windows"),
        ({"os.name": "Windows"}, ["google"], "cpu"),
        ({"os.name": "Ubuntu", "os.build": "L4T 36.4.7"}, ["nvidia"], "nvidia-jetson"),
        ({"os.name": "Ubuntu", "os.kernel": "Linux 5.15.148-tegra"}, ["nvidia"], "nvidia-jetson"),
        ({"machine.model": "NVIDIA Jetson AGX Orin Developer Kit"}, ["nvidia"], "nvidia-jetson"),
        ({"os.name": "Ubuntu", "machine.model": "NVIDIA_DGX_Spark"}, ["nvidia"], "nvidia-dgx-spark"),
        ({"os.name": "Amazon Linux"}, ["aws"], "aws-neuron"),
        ({"os.name": "macOS"}, ["amd"], "cpu"),
        ({"os.name": "macOS", "os.arch": "arm64"}, [], "apple-metal"),
        ({"os.name": "macOS", "python.arch": "x86_64", "cpu.model": "Apple M1"}, [], "apple-metal"),
        ({"os.name": "macOS", "os.arch": "x86_64", "cpu.model": "Intel(R) Core(TM) i9"}, [], "cpu"),
        ({"os.name": "Windows"}, ["intel"], "intel-xpu-windows"),
        ({"os.name": "Ubuntu"}, ["intel"], "intel-xpu"),
        ({"os.name": "Ubuntu"}, ["google"], "google-tpu"),
        ({"os.name": "openEuler"}, ["huawei"], "huawei-cann"),
        ({"os.name": "macOS"}, ["apple"], "apple-metal"),
        ({"os.name": "macOS", "apple.chip": "Apple M3"}, [], "apple-metal"),
        ({"os.name": "Windows"}, [], "cpu"),
        ({"nvidia.nvml_error": "No devices were found"}, [], "nvidia-cuda"),
        ({"os.name": "Windows", "nvidia.driver_version": "581.29"}, [], "nvidia-windows"),
        ({"os.name": "Ubuntu", "nvidia.nvml_error": "Driver not loaded"}, ["amd"], "amd-rocm"),
        ({}, [], "cpu"),
        ({"message.symptoms": "cuda-100"}, [], "nvidia-cuda"),
        ({"message.symptoms": "cuda-100", "os.name": "Windows"}, [], "nvidia-windows"),
        ({"message.symptoms": "cuda-100", "os.name": "macOS", "os.arch": "arm64"}, [], "apple-metal"),
        ({"message.program": "rocm"}, [], "amd-rocm"),
        ({"message.program": "mlx"}, [], "apple-metal"),
        ({"cuda.available": False}, [], "nvidia-cuda"),
        ({"cuda.available": False, "os.name": "Ubuntu"}, [], "cpu"),
    ],
)
def test_a_machine_runs_the_stack_of_its_cards(facts, vendors, stack):
    assert stack_slug(facts, vendors) == stack


def test_what_was_found_stands_on_its_layer_with_its_version(stacks):
    found = boxes(cards=[h100()])
    assert (found["cudnn"].version, found["cudnn"].state, found["cudnn"].layer) == (
        "9.20.0",
        State.REPORTED,
        Layer.LIBRARY,
    )
    assert found["nccl"].state == State.UNKNOWN
    assert found["nvml"].state == State.REPORTED  # it comes with the driver


def test_alike_cards_are_one_box_with_their_number(stacks):
    found = boxes(cards=[h100(index) for index in range(8)])
    assert found["hardware"].name == "8 × NVIDIA H100 80GB HBM3"
    assert found["hardware"].version == "80 GiB · sm_90"
    assert (found["device-memory"].version, found["main-memory"].version) == ("8 × 80 GiB", "2 TiB")


def test_cards_of_two_kinds_are_two_boxes(stacks):
    other = h100(1, "NVIDIA A100", 40 * GIB)
    names = [box.name for box in column(cards=[h100(), other]).boxes if box.role == "accelerator"]
    assert names == ["NVIDIA H100 80GB HBM3", "NVIDIA A100"]


def test_an_apple_machine_has_one_memory(stacks):
    facts = {"gpu_cores": 40, "unified_memory": True}
    mac = Card(index=0, kind="soc", vendor="apple", reported_name="Apple M3 Max", facts=facts)
    found = boxes(cards=[mac], stack="apple-metal", software=[])
    assert found["unified-memory"].version == "2 TiB"
    assert "main-memory" not in found


def test_cardless_machine_shows_cpu_and_memory(stacks):
    found = boxes(stack="cpu")
    assert (found["processor"].name, found["processor"].version) == ("AMD EPYC 9654", "192 threads")
    assert (found["main-memory"].role, found["main-memory"].version) == ("memory", "2 TiB")


def test_machine_without_facts_claims_nothing(stacks):
    described = described_column("cpu")
    empty = reported_column(replace(linux(), facts={}, cards=(), software=()), described, [], [], key="k", title="b")
    assert {box.state for box in empty.boxes} <= {State.UNKNOWN, State.ABSENT}


def test_findings_of_the_rules_colour_the_boxes_they_are_about(stacks):
    seen = linux(card(power_limit_w=600.0), nvidia__driver_version="570.10")
    found = boxes(cards=[h100()], findings=judge(seen, packaged_tables()))
    assert found["cuda-runtime"].state == State.WARNING
    assert any("needs driver 580.65.06" in note.text for note in found["cuda-runtime"].notes)
    assert found["nvidia-driver"].state == State.FITS  # an ended branch alone is a note
    assert any("no longer supported" in note.text for note in found["nvidia-driver"].notes)
    assert found["cudnn"].state == State.FITS
    assert any("power limit 600 W" in note.text for note in found["hardware"].notes)


def test_machine_and_stack_share_eight_layers(stacks):
    drawn = draw_columns([described_column("nvidia-cuda"), column(cards=[h100()])])
    assert len(drawn.layers) == 8
    [driver] = [row for layer in drawn.layers for row in layer.rows if row.role == "device-driver"]
    assert not driver.differs


def test_card_finding_colours_box_on_page_and_answer(stacks):
    slow = card(1, "NVIDIA A100", pcie_width=4, pcie_width_max=16)
    seen = linux(card(), slow)
    findings = [one for one in judge(seen, packaged_tables()) if one.rule == "pcie-width"]
    assert [one.severity for one in findings] == ["warning"]
    drawn = [box for box in column(cards=seen.cards, findings=findings).boxes if box.role == "accelerator"]
    assert [(box.cards, box.state) for box in drawn] == [((0,), State.REPORTED), ((1,), State.WARNING)]
    answered = [one for one in components(seen, findings) if one.layer == "hardware"]
    assert [one.state for one in answered] == ["reported", "warning"]


def test_a_toolkit_has_its_boxes_on_any_stack(stacks):
    found = boxes(stack="cpu", software=(Software("cuda-toolkit", "13.0.88", "nvcc"),))
    assert (found["cuda-toolkit"].version, found["cuda-toolkit"].role) == ("13.0.88", "toolkit")
    assert found["nvcc"].state == State.REPORTED
    assert "cuda-toolkit" not in boxes(stack="cpu", software=())


def test_what_was_looked_for_and_is_not_there_is_said(stacks):
    report = replace(linux(), facts={}, cards=(), software=(), absent={"torch.version": Absent("not_installed", None)})
    drawn = reported_column(report, described_column("cpu"), [], [], key="a", title="a")
    (torch,) = (box for box in drawn.boxes if box.component == "pytorch")
    assert (torch.version, torch.state) == ("not installed", State.REPORTED)


def test_of_several_torches_the_one_that_runs_is_drawn(stacks):
    listed = (Software("pytorch", "2.13.0+cu130", "collect_env"), Software("pytorch", "2.12.0", "packages of pip"))
    assert boxes(software=listed)["pytorch"].version == "2.13.0+cu130"
    assert boxes(software=listed[::-1])["pytorch"].version == "2.13.0+cu130"
