"""Checks across figures and sheets: each lets the right through and names the wrong with what it expected."""

import pytest

from stackviz.records.catalog.models import Accelerator, SpecValue
from tests.records.catalog.test_check import DENSE, excused, problems, says  # noqa: F401 (a fixture)


def test_bandwidth_and_bus_give_a_rate_that_the_memory_has(says):  # noqa: F811
    says("memory_bus_bits", "384", "bit")
    says("memory_type", "GDDR6 with ECC")
    right = says("memory_bandwidth_gb_s", "960", "GB/s")
    assert problems("pins") == []
    SpecValue.objects.filter(pk=right.pk).update(value="1960", amount=1960e9)
    assert problems("pins") == [("1960 GB/s", "10 – 20 Gbit/s of a pin (GDDR6), not 40.8")]


def test_lanes_and_rate_give_a_clock_of_the_sheet(says):  # noqa: F811
    says("cuda_cores", "10000", "count")
    says("boost_clock_mhz", "2000", "MHz")
    rate = says("fp32_tflops", "40", "TFLOPS", DENSE)
    assert problems("clock") == []
    SpecValue.objects.filter(pk=rate.pk).update(value="80", amount=80e12)
    assert problems("clock") == [("80 TFLOPS", "a clock of 1,500 – 2,200 MHz behind it, not 4000")]


@pytest.fixture
def sheets(card, sheet_source) -> list[Accelerator]:
    """Four sheets of one architecture whose fp64 is half of fp32."""
    more = [
        Accelerator.objects.create(slug=f"acme-{n}", name=f"Acme {n}", vendor=card.vendor, kind="gpu") for n in range(4)
    ]
    for n, one in enumerate(more, start=1):
        for field, figure in (("fp32_tflops", 20 * n), ("fp64_tflops", 10 * n)):
            SpecValue.objects.create(
                accelerator=one, field=field, value=str(figure), unit="TFLOPS", condition=DENSE, source=sheet_source,
                status="public", is_preferred=True,
            )  # fmt: skip
        SpecValue.objects.create(
            accelerator=one,
            field="architecture",
            value="Acme 1",
            source=sheet_source,
            status="public",
            is_preferred=True,
        )
    return more


def test_rate_that_breaks_its_architectures_ratio_is_named(sheets):
    assert problems("ratio") == []
    odd = SpecValue.objects.get(accelerator=sheets[3], field="fp64_tflops")
    SpecValue.objects.filter(pk=odd.pk).update(value="80", amount=80e12)
    expected = "0.5 × fp32, as other sheets of Acme 1 have it, not 1 ×"
    assert problems("ratio") == [("80 TFLOPS", expected)]
    SpecValue.objects.filter(pk=odd.pk).update(note="Not by formula: a special edition")
    assert problems("ratio") == []
    assert excused("ratio") == 1


def test_of_two_sheets_neither_is_the_exception(sheets):
    for one in sheets[:2]:
        one.delete()
    SpecValue.objects.filter(accelerator=sheets[3], field="fp64_tflops").update(value="80", amount=80e12)
    assert problems("ratio") == []


@pytest.mark.parametrize(
    ("day", "is_right"),
    [("2022-03-22", True), ("2022-03", True), ("2022", True), ("2022-02-28", False), ("2021", False)],
)
def test_a_product_is_not_older_than_its_architecture(says, day, is_right):  # noqa: F811
    says("architecture", "Hopper")
    says("release_date", day)
    assert problems("date") == ([] if is_right else [(day, "2022-03 or later, when Hopper was first shown")])


def test_board_power_is_limited_by_module_and_form_factor(says):  # noqa: F811
    says("form_factor", "PCIe single-slot low-profile")
    power = says("tdp_w", "72", "W")
    says("tdp_w", "300", "W", "scope=module")
    assert [expected for said, expected in problems("power") if said == "72 W"] == []
    SpecValue.objects.filter(pk=power.pk).update(value="320", amount=320.0)
    expected = "at most 300 W: that of module; at most 75 W: a card of the form low-profile"
    assert ("320 W", expected) in problems("power")


def test_unreadable_condition_is_left_to_its_check(says):  # noqa: F811
    power = says("tdp_w", "300", "W")
    SpecValue.objects.filter(pk=power.pk).update(condition="hot")
    assert problems("power") == []
    assert problems("condition") != []
