"""Derived figures: computed by hand here, once, from what data sheets print; never from what does not belong together."""

import pytest

from stackviz.records.catalog.derived import DERIVATIONS, Derived, derive, derive_figure
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import peaks

DENSE, FP32 = "sparsity=dense", "sparsity=dense; accumulate=fp32"
# As printed: 989.4 TFLOPS, 1,978.9 sparse, 67 TFLOPS fp32, 3,350 GB/s, 80 GB, 700 W; a shop asked 30,000 USD.
H100 = {
    ("bf16_tensor_tflops", DENSE): 989.4e12,
    ("bf16_tensor_tflops", "sparsity=sparse"): 1978.9e12,
    ("fp32_tflops", DENSE): 67e12,
    ("int8_tensor_tops", DENSE): 1978.9e12,
    ("memory_bandwidth_gb_s", ""): 3.35e12,
    ("memory_gb", ""): 80e9,
    ("tdp_w", ""): 700.0,
    ("launch_price_usd", "price=listing"): 30000.0,
}


def of(published: dict[tuple[str, str], float], name: str) -> Derived:
    return derive_figure(DERIVATIONS[name], {(7, *key): amount for key, amount in published.items()}, 7)


@pytest.mark.parametrize(
    ("name", "label", "worked"),
    [
        ("ridge-point", "295.3 FLOP/B", "989.4 TFLOPS ÷ 3,350 GB/s"),  # 989400 / 3350 = 295.34
        ("ridge-point-fp32", "20 FLOP/B", "67 TFLOPS ÷ 3,350 GB/s"),
        ("bytes-per-flop", "0.003386 B/FLOP", "3,350 GB/s ÷ 989.4 TFLOPS"),
        ("memory-read-time", "23.88 ms", "80 GB ÷ 3,350 GB/s"),  # 80 / 3350 s
        ("flops-per-watt", "1,413 GFLOPS/W", "989.4 TFLOPS ÷ 700 W"),
        ("fp32-per-watt", "95.71 GFLOPS/W", "67 TFLOPS ÷ 700 W"),
        ("int8-per-watt", "2,827 GOPS/W", "1,978.9 TOPS ÷ 700 W"),
        ("bandwidth-per-watt", "4.786 GB/s/W", "3,350 GB/s ÷ 700 W"),
    ],
)
def test_the_figures_of_an_h100_are_those_worked_out_by_hand(name, label, worked):
    found = of(H100, name)
    assert (found.label, found.worked, found.reason) == (label, worked, "")


# GeForce RTX 4090: 165.2 TFLOPS with fp32 accumulate, 1,008 GB/s, 24 GB, 1,599 USD.
RTX_4090 = {
    ("fp16_tensor_tflops", "sparsity=dense; accumulate=fp16"): 330.3e12,
    ("fp16_tensor_tflops", FP32): 165.2e12,
    ("memory_bandwidth_gb_s", ""): 1.008e12,
    ("memory_gb", ""): 24e9,
    ("launch_price_usd", ""): 1599.0,
}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ridge-point", "163.9 FLOP/B"),  # 165200 / 1008 = 163.89
        ("flops-per-dollar", "103.3 GFLOPS/USD"),  # 165200 / 1599 = 103.31
        ("bandwidth-per-dollar", "0.6304 GB/s/USD"),  # 1008 / 1599
        ("memory-per-dollar", "15.01 MB/USD"),  # 24000 / 1599
    ],
)
def test_a_launch_price_buys_so_much(name, label):
    assert of(RTX_4090, name).label == label


def test_the_amount_is_in_si_and_the_exact_figure_is_longer():
    found = of(H100, "flops-per-watt")
    assert found.amount == pytest.approx(1.4134285714e12)
    assert found.exact == "1,413.42857143 GFLOPS/W"
    assert of(H100, "memory-read-time").amount == pytest.approx(0.023880597)


def test_the_condition_says_which_rate_went_in():
    assert of(H100, "ridge-point").condition == "bf16 tensor, dense"
    assert of(RTX_4090, "ridge-point").condition == "fp16 tensor, dense, fp32 accumulate"
    assert of(H100, "bandwidth-per-watt").condition == ""


@pytest.mark.parametrize("scope", ["scope=system", "scope=limit", "scope=module", "load=typical"])
def test_rate_is_not_divided_by_unrelated_power(scope):
    published = {**H100, ("tdp_w", scope): 10_000.0}
    assert of(published, "flops-per-watt").label == "1,413 GFLOPS/W"
    del published["tdp_w", ""]
    assert of(published, "flops-per-watt").amount is None


M3_MAX = {
    ("memory_gb", "configuration=48 GB"): 48e9,
    ("memory_gb", "configuration=128 GB"): 128e9,
    ("memory_gb_max", ""): 128e9,
    ("memory_bandwidth_gb_s", ""): 400e9,
}
KIT = {key: amount for key, amount in RTX_4090.items() if key[0] != "launch_price_usd"} | {
    ("launch_price_usd", "price=kit"): 99.0
}
EDITIONS = {key: amount for key, amount in H100.items() if key[0] != "tdp_w"} | {
    ("tdp_w", "edition=A"): 250.0,
    ("tdp_w", "edition=B"): 260.0,
}
SPARSE_ALONE = {("bf16_tensor_tflops", "sparsity=sparse"): 1978.9e12, ("memory_bandwidth_gb_s", ""): 3.35e12}
ZERO = {("memory_gb", ""): 80e9, ("memory_bandwidth_gb_s", ""): 0.0}


@pytest.mark.parametrize(
    ("published", "name", "reason"),
    [
        (SPARSE_ALONE, "ridge-point", "bf16 tensor is published only as: with 2:4 sparsity"),
        (H100, "flops-per-dollar", "Launch price is published only as: a shop's listing, not the vendor's price"),
        (KIT, "memory-per-dollar", "Launch price is published only as: developer kit"),
        ({}, "ridge-point", "not published: bf16 tensor"),
        ({("bf16_tensor_tflops", DENSE): 1e12}, "ridge-point", "not published: Memory bandwidth"),
        (EDITIONS, "flops-per-watt", "Board power depends on the model"),
        (M3_MAX, "memory-per-dollar", "Memory depends on the model"),
        (ZERO, "memory-read-time", "Memory bandwidth is zero"),
    ],
)
def test_what_does_not_belong_together_is_not_divided(published, name, reason):
    found = of(published, name)
    assert (found.amount, found.text, found.label, found.reason) == (None, "", "", reason)


def test_largest_memory_size_is_used():
    found = of(M3_MAX, "memory-read-time")
    assert (found.label, found.condition) == ("320 ms", "Memory, largest model")


def test_another_accelerators_figures_are_left_alone():
    of_another = {(7, *key): amount for key, amount in H100.items()}
    assert any(item.amount is not None for item in derive(of_another, 7))
    assert all(item.amount is None for item in derive(of_another, 8))


def test_every_derivation_uses_existing_fields():
    assert len(DERIVATIONS) >= 10
    for name, derivation in DERIVATIONS.items():
        assert derivation.name == name
        assert all(derivation.words)
        assert {field for need in derivation.needs for field in need.fields} <= FIELDS.keys()


def test_the_catalogue_gives_most_cards_a_ridge_point(curated, db):
    pks = dict(Accelerator.objects.values_list("slug", "pk"))
    found = peaks(pks.values())
    ridge = {slug: derive_figure(DERIVATIONS["ridge-point"], found, pk) for slug, pk in pks.items()}
    assert ridge["nvidia-h100-sxm5-80gb"].label == "295.3 FLOP/B"
    assert ridge["nvidia-geforce-rtx-4090"].text == "163.9"
    assert sum(item.amount is not None for item in ridge.values()) > 90
    assert all(item.amount is not None or item.reason for item in ridge.values())
