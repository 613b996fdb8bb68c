"""Which formats a chip takes is told by published rates, and on NVIDIA's also by the compute capability."""

import csv
import io

import pytest

from stackviz.pages.accelerators.list_query import SUPPORTS
from stackviz.records.catalog.absences import (
    KNOWN,
    LEAST,
    MIXED,
    architectures_with,
    capabilities_with,
    is_lower_capability,
    lacks,
)
from stackviz.records.catalog.models import SpecValue


def found(client, query: str) -> set[str]:
    file = client.get(f"/accelerators/?{query}&format=csv").content.decode()
    return {row["slug"] for row in csv.DictReader(io.StringIO(file))}


def test_every_capability_of_the_catalogue_is_known(curated, db):
    """A new one must be looked up in NVIDIA's table and written down."""
    values = SpecValue.objects.filter(field="compute_capability", accelerator__vendor__slug="nvidia")
    recent = {value for value in values.values_list("value", flat=True) if not is_lower_capability(value, "7.0")}
    assert recent <= {*KNOWN, MIXED}


def test_every_rate_told_here_is_one_of_the_filter():
    assert set(LEAST) <= set(SUPPORTS.values())


@pytest.mark.parametrize(
    ("supports", "inside", "outside"),
    [
        ("fp8", "nvidia-h800-sxm5", "nvidia-a100-sxm4-80gb"),
        ("fp8", "nvidia-gh200-144gb", "nvidia-geforce-rtx-3090"),
        ("fp8", "nvidia-dgx-spark-gb10", "nvidia-jetson-agx-orin-64gb"),
        ("fp4", "nvidia-rtx-pro-5000-blackwell", "nvidia-h200-sxm"),
        ("fp64", "nvidia-gh200-144gb", "nvidia-geforce-rtx-4090"),
        ("bf16", "nvidia-a800-pcie-80gb", "nvidia-t4"),
        ("fp16", "nvidia-quadro-rtx-5000", "nvidia-geforce-gtx-1650"),
        ("int8", "nvidia-jetson-agx-xavier-16gb", "nvidia-t1000-8gb"),
        ("fp8", "amd-mi300x", "amd-mi250x"),
    ],
)
def test_design_implies_format_support(curated, client, db, supports, inside, outside):
    slugs = found(client, f"supports={supports}")
    assert inside in slugs
    assert outside not in slugs


@pytest.mark.parametrize("rate", LEAST)
def test_what_a_capability_lacks_nobody_publishes(curated, db, rate):
    """The table against the data: no chip below the first capability has a figure on its matrix units."""
    rates = SpecValue.objects.filter(field=rate, status="public", amount__gt=0, accelerator__vendor__slug="nvidia")
    on_matrix_units = rates.exclude(condition__contains="engine=").values("accelerator")
    capabilities = SpecValue.objects.filter(
        field="compute_capability", status="public", accelerator__in=on_matrix_units
    ).values_list("accelerator__slug", "value")
    assert [slug for slug, capability in capabilities if lacks(rate, capability)] == []


def test_other_makers_texts_say_nothing():
    assert not lacks("bf16_tensor_tflops", "gfx90a")
    assert not lacks("bf16_tensor_tflops", "")
    assert not lacks("fp32_tflops", "3.7")
    assert lacks("bf16_tensor_tflops", "7.5")
    assert capabilities_with("fp32_tflops") == ()
    assert "Hopper" in architectures_with("fp8_tensor_tflops")
    assert "Ampere" not in architectures_with("fp64_tensor_tflops")
