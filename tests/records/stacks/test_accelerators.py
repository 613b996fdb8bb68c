"""Which described stack an accelerator runs."""

import csv
from fnmatch import filter as matching

import pytest

from stackviz.records.catalog.files import DATA
from stackviz.records.stacks.queries import accelerator_patterns, public_stacks, stacks_of_accelerator

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("vendor", "accelerator", "wanted"),
    [
        ("nvidia", "nvidia-h100-sxm5-80gb", ["nvidia-cuda", "nvidia-windows", "nvidia-wsl2"]),
        ("nvidia", "nvidia-jetson-agx-orin-64gb", ["nvidia-jetson"]),
        ("nvidia", "nvidia-dgx-spark-gb10", ["nvidia-dgx-spark"]),
        ("aws", "aws-trainium2", ["aws-neuron"]),
        ("amd", "amd-mi300x", ["amd-rocm", "amd-rocm-windows"]),
        ("intel", "intel-arc-b580", ["intel-xpu", "intel-xpu-windows"]),
        ("apple", "apple-m4-max-40", ["apple-metal", "apple-mlx"]),
        ("groq", "groq-lpu-v1", []),
    ],
)
def test_an_accelerator_runs_the_stacks_of_its_vendor_or_its_own(stacks, vendor, accelerator, wanted):
    assert [stack.slug for stack in stacks_of_accelerator(public_stacks(), vendor, accelerator)] == wanted


def test_without_an_accelerator_all_of_the_vendor_count(stacks):
    found = [stack.slug for stack in stacks_of_accelerator(public_stacks(), "nvidia")]
    assert found == ["nvidia-cuda", "nvidia-windows", "nvidia-wsl2", "nvidia-jetson", "nvidia-dgx-spark"]


def test_every_pattern_names_accelerators_of_the_catalogue():
    with (DATA / "accelerators.csv").open(encoding="utf-8", newline="") as file:
        names = {row["slug"]: row["name"] for row in csv.DictReader(file)}
    found = {
        stack: {slug for pattern in patterns for slug in matching(names, pattern)}
        for stack, patterns in accelerator_patterns().items()
    }
    assert found["nvidia-jetson"] == {slug for slug, name in names.items() if "Jetson" in name}
    assert found["nvidia-dgx-spark"] == {"nvidia-dgx-spark-gb10"}
