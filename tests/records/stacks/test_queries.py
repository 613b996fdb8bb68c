"""Reads across stacks: what comes back, and with how many queries."""

from itertools import combinations

from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.records.stacks.models import Component, Edition, Placement, Release, Stack
from stackviz.records.stacks.queries import described_column, described_columns, names_of_components, public_stacks
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.rules import find, packaged_tables
from tests.report.rules.build import card, linux

# --- described columns ---


def test_a_described_stack_is_a_column_ready_to_draw(stacks):
    column = described_column("nvidia-cuda")
    assert (column.key, column.title, column.url) == (
        "stack:nvidia-cuda",
        "NVIDIA CUDA on Linux",
        "/stacks/nvidia-cuda/",
    )
    boxes = {box.component: box for box in column.boxes}
    driver = boxes["nvidia-driver"]
    assert (driver.role, driver.layer, driver.state) == ("device-driver", Layer.DRIVER, State.DESCRIBED)
    assert driver.version.startswith("≥ 525.60.13")
    assert "GSP firmware" in driver.calls
    assert {"metal-driver", "cpu-power-driver", "amdgpu-driver"} < {other.component for other in driver.counterparts}
    assert boxes["mkl"].role == "cpu-math"
    assert boxes["nvml"].part_of == "nvidia-driver"


def test_what_a_stack_lacks_is_an_absent_box_with_the_reason(stacks):
    absent = {box.role: box for box in described_column("apple-metal").boxes if box.state == State.ABSENT}
    assert (absent["partition"].name, absent["partition"].url) == ("", "")
    assert "torch.distributed" in absent["collectives"].summary
    assert (absent["fourier-transform"].name, absent["fourier-transform"].url) == ("MPSGraph", "/components/mpsgraph/")


def test_no_stack_has_an_unexplained_gap_beside_another(stacks):
    columns = described_columns(stack.slug for stack in public_stacks())
    for pair in combinations(columns.values(), 2):
        drawn = draw_columns(pair)
        empty = [cell for layer in drawn.layers for row in layer.rows for cell in row.cells if not cell.placed]
        assert [cell.missing for cell in empty if not cell.instead and ": see " not in cell.missing] == []


def test_driver_answers_to_driver_across_all_three(stacks):
    drawn = draw_columns(list(described_columns(["nvidia-cuda", "apple-metal", "cpu"]).values()))
    [rows] = [layer.rows for layer in drawn.layers if layer.layer == Layer.DRIVER]
    [row] = [row for row in rows if row.role == "device-driver"]
    assert [cell.placed[0].box.name for cell in row.cells] == [
        "NVIDIA driver",
        "GPU driver in macOS",
        "CPU frequency driver",
    ]


def test_described_columns_cost_one_query_after_the_first(stacks, django_assert_num_queries):
    described_columns(["cpu"])
    with django_assert_num_queries(1):
        assert set(described_columns(["nvidia-cuda", "apple-metal", "cpu", "no-such"])) == {
            "nvidia-cuda",
            "apple-metal",
            "cpu",
        }


def test_before_a_load_packaged_tables_serve_and_no_column(db, django_assert_num_queries):
    assert (described_column("nvidia-cuda"), Edition.current()) == (None, "")
    assert rule_tables() is packaged_tables()
    with django_assert_num_queries(0):
        assert described_columns([]) == {}


def test_a_correction_is_seen_at_once(stacks, django_assert_num_queries):
    assert names_of_components()["cudnn"] == "cuDNN"
    with django_assert_num_queries(1):  # the edition
        names_of_components()
    component = Component.objects.get(slug="cudnn")
    component.name = "cuDNN, corrected"
    component.save()
    Placement.objects.get(stack__slug="nvidia-cuda", component__slug="cutlass").delete()
    boxes = {box.component: box.name for box in described_column("nvidia-cuda").boxes}
    assert (boxes["cudnn"], names_of_components()["cudnn"]) == ("cuDNN, corrected",) * 2
    assert "cutlass" not in boxes


def test_a_stack_that_is_not_public_is_not_described(stacks):
    stack = Stack.objects.get(slug="cpu")
    stack.is_public = False
    stack.save()
    assert described_column("cpu") is None
    assert "cpu" not in [row.slug for row in public_stacks()]


# --- tables for the rules ---


def test_database_and_files_give_equal_tables(stacks):
    assert rule_tables() == packaged_tables()


def test_tables_cost_two_queries_after_the_first(stacks, django_assert_num_queries):
    rule_tables()
    with django_assert_num_queries(2):
        rule_tables()


def test_a_corrected_release_changes_what_rules_find(stacks):
    seen = linux(card())
    assert "driver-branch-ended" not in [finding.rule for finding in find(seen, rule_tables())]
    row = Release.objects.get(component__slug="nvidia-driver", version="580", variant="linux")
    row.support_ends = "2020-01"
    row.save()
    assert "driver-branch-ended" in [finding.rule for finding in find(seen, rule_tables())]
