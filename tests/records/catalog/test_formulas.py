"""Formulas: what the figures of one sheet make of each other. The traps are those published tables fell into."""

import pytest

from stackviz.records.catalog.designs import DESIGNS, PIN_RATES
from stackviz.records.catalog.fields import FIELDS, FORMULAS
from stackviz.records.catalog.files import read_catalogue
from stackviz.records.catalog.formula import Published, expectations, half_a_digit

DENSE, SPARSE = "sparsity=dense", "sparsity=sparse"
FP16, FP32 = "; accumulate=fp16", "; accumulate=fp32"
GPU, DLA = "; engine=gpu", "; engine=gpu+dla"

H100_SXM = Published(
    "nvidia-h100-sxm5-80gb",
    {("sm_count", ""): 132, ("cuda_cores", ""): 16896, ("boost_clock_mhz", "clock=maximum"): 1980,
     ("boost_clock_mhz", "clock=tensor"): 1830, ("fp32_tflops", DENSE): 67, ("bf16_tensor_tflops", DENSE): 989.4},
    {"compute_capability": "9.0"},
)  # fmt: skip
B300 = Published(
    "nvidia-b300-hgx",
    {("fp32_tflops", DENSE): 75, ("fp16_tensor_tflops", DENSE): 2250, ("fp4_tensor_tflops", DENSE): 14000},
    {"compute_capability": "10.3"},
)
B200 = Published(
    "nvidia-b200-hgx",
    {("fp32_tflops", DENSE): 75, ("fp16_tensor_tflops", DENSE): 2250, ("fp4_tensor_tflops", DENSE): 9000},
    {"compute_capability": "10.0"},
)
RTX_4090 = Published(
    "nvidia-geforce-rtx-4090",
    {("sm_count", ""): 128, ("boost_clock_mhz", ""): 2520, ("fp16_tensor_tflops", DENSE + FP16): 330.3,
     ("fp16_tensor_tflops", DENSE + FP32): 165.2},
    {"compute_capability": "8.9"},
)  # fmt: skip
RTX_6000_ADA = Published(
    "nvidia-rtx-6000-ada",
    {("sm_count", ""): 142, ("boost_clock_mhz", ""): 2505, ("fp16_tensor_tflops", DENSE + FP16): 364.2},
    {"compute_capability": "8.9"},
)
RTX_5090 = Published(
    "nvidia-geforce-rtx-5090",
    {("fp16_tensor_tflops", DENSE + FP16): 419, ("fp16_tensor_tflops", DENSE + FP32): 209.5,
     ("fp4_tensor_tflops", DENSE): 1676},
    {"compute_capability": "12.0"},
)  # fmt: skip
RTX_3090 = Published(
    "nvidia-geforce-rtx-3090",
    {("fp16_tensor_tflops", DENSE + FP32): 71},
    {"compute_capability": "8.6"},
)
RTX_A5000 = Published(
    "nvidia-rtx-a5000",
    {("sm_count", ""): 64, ("boost_clock_mhz", ""): 1695},
    {"compute_capability": "8.6"},
)
L40 = Published("nvidia-l40", {("sm_count", ""): 142, ("boost_clock_mhz", ""): 2490}, {"compute_capability": "8.9"})
ORIN = Published(
    "nvidia-jetson-agx-orin-64gb",
    {("sm_count", ""): 16, ("boost_clock_mhz", ""): 1300, ("int8_tensor_tops", DENSE + GPU): 85},
    {"compute_capability": "8.7"},
)
H100_PCIE = Published(
    "nvidia-h100-pcie-80gb",
    {("cuda_cores", ""): 14592, ("boost_clock_mhz", ""): 1755},
    {"compute_capability": "9.0"},
)
V100 = Published(
    "nvidia-v100-sxm2",
    {("cuda_cores", ""): 5120, ("boost_clock_mhz", ""): 1530},
    {"compute_capability": "7.0"},
)
H20 = Published("nvidia-h20", {("sm_count", ""): 78, ("fp16_tensor_tflops", DENSE): 148}, {"compute_capability": "9.0"})
RTX_PRO = Published(
    "nvidia-rtx-pro-6000-blackwell-se",
    {("memory_bus_bits", ""): 512, ("fp16_tensor_tflops", DENSE + FP16): 503.8},
    {"compute_capability": "12.0", "memory_type": "GDDR7"},
)
THOR = Published("nvidia-jetson-agx-thor", {("sm_count", ""): 20}, {"compute_capability": "11.0"})


def judged(published: Published, field: str, condition: str, figure: float) -> list[bool]:
    """One answer per rule that found its inputs."""
    found = expectations(published, FIELDS[field].formula, field, condition)
    return [expected.holds(figure, half_a_digit(f"{figure:g}")) for expected in found]


@pytest.mark.parametrize(
    ("published", "field", "condition", "right", "wrong"),
    [
        pytest.param(H100_SXM, "fp16_tensor_tflops", DENSE, 989.4, 1979, id="sparse-read-as-dense"),
        pytest.param(H100_SXM, "bf16_tensor_tflops", SPARSE, 1978.9, 989.4, id="dense-read-as-sparse"),
        pytest.param(B200, "fp4_tensor_tflops", SPARSE, 18000, 9000, id="b200-fp4-is-two-to-one"),
        pytest.param(B300, "fp64_tflops", DENSE, 1.2, 37, id="blackwell-ultra-cut-fp64"),
        pytest.param(B200, "fp64_tflops", DENSE, 37, 1.2, id="b200-did-not"),
        pytest.param(RTX_4090, "fp16_tensor_tflops", DENSE + FP32, 165.2, 330.3, id="geforce-halves-fp32-accumulate"),
        pytest.param(RTX_4090, "fp16_tensor_tflops", DENSE + FP16, 330.3, 165.2, id="geforce-fp16-accumulate"),
        pytest.param(RTX_4090, "fp8_tensor_tflops", DENSE + FP32, 330.3, 660.6, id="whitepaper-corrected-in-v2.02"),
        pytest.param(RTX_4090, "bf16_tensor_tflops", DENSE, 165.2, 330.3, id="bf16-always-adds-in-fp32"),
        pytest.param(RTX_6000_ADA, "fp16_tensor_tflops", DENSE + FP32, 364.2, 182.1, id="workstation-cards-do-not"),
        pytest.param(RTX_5090, "fp4_tensor_tflops", DENSE, 1676, 838, id="fp4-is-not-halved"),
        pytest.param(RTX_5090, "fp4_tensor_tflops", DENSE, 1676, 3352, id="ai-tops-are-sparse-fp4"),
        pytest.param(RTX_A5000, "fp16_tensor_tflops", DENSE, 111.1, 222.2, id="tensor-performance-is-sparse-fp16"),
        pytest.param(L40, "fp16_tensor_tflops", DENSE, 362.05, 181.05, id="l40-is-half-of-its-chip"),
        pytest.param(H100_SXM, "fp32_tflops", DENSE, 67, 50, id="fp32-at-its-own-clock"),
        pytest.param(H100_SXM, "bf16_tensor_tflops", DENSE, 989.4, 1070, id="tensor-at-another-clock"),
        pytest.param(ORIN, "int8_tensor_tops", DENSE + GPU, 85, 170, id="jetson-tops-are-sparse"),
        pytest.param(ORIN, "int8_tensor_tops", SPARSE + GPU, 170, 275, id="jetson-tops-count-the-dla"),
        pytest.param(H100_PCIE, "fp32_tflops", DENSE, 51, 48, id="h100-pcie-preliminary"),
        pytest.param(V100, "fp32_tflops", DENSE, 15.7, 15, id="v100-launch-figures"),
        pytest.param(RTX_3090, "tf32_tensor_tflops", DENSE, 35.6, 71, id="tf32-on-geforce"),
        pytest.param(H20, "fp8_tensor_tflops", DENSE, 296, 592, id="h20-rates-among-themselves"),
        pytest.param(RTX_PRO, "fp8_tensor_tflops", DENSE + FP16, 1007, 2000, id="rtx-pro-prints-sparse"),
        pytest.param(RTX_PRO, "memory_bandwidth_gb_s", "", 1597, 896, id="gddr7-has-a-slowest-rate"),
        pytest.param(RTX_PRO, "memory_bandwidth_gb_s", "", 1792, 3584, id="gddr7-has-a-fastest-rate"),
        pytest.param(THOR, "tensor_cores", "", 80, 96, id="thor-marketing-counts-96"),
    ],
)
def test_a_known_trap_is_told_from_the_right_figure(published, field, condition, right, wrong):
    assert judged(published, field, condition, right)
    assert all(judged(published, field, condition, right))
    assert not all(judged(published, field, condition, wrong))


@pytest.mark.parametrize(
    ("published", "field", "condition"),
    [
        pytest.param(B300, "int8_tensor_tops", DENSE, id="b300-int8-is-not-inherited-from-b200"),
        pytest.param(H20, "fp16_tensor_tflops", DENSE, id="h20-is-capped-no-clock-gives-its-rate"),
        pytest.param(ORIN, "int8_tensor_tops", DENSE + DLA, id="the-dla-is-no-part-of-the-gpu"),
        pytest.param(H100_SXM, "tdp_w", "", id="a-power-limit-is-no-board-power"),
        pytest.param(
            Published("x", {("boost_clock_mhz", ""): 1000}, {}), "fp32_tflops", DENSE, id="no-lanes-no-formula"
        ),
    ],
)
def test_what_no_formula_can_know_is_not_judged(published, field, condition):
    assert judged(published, field, condition, 1.0) == []


def test_blackwell_ultra_fp4_needs_its_exception():
    assert judged(B300, "fp4_tensor_tflops", SPARSE, 18000) == [False]
    excepted = {line.slot for line in read_catalogue().exceptions}
    assert {(slug, "fp4_tensor_tflops", SPARSE) for slug in ("nvidia-b300-hgx", "nvidia-gb300")} <= excepted


@pytest.mark.parametrize(
    ("bus", "memory", "figure", "agrees"),
    [
        (128, "LPDDR4X-4266", 68, True),
        (512, "LPDDR5-6400", 400, True),
        (512, "LPDDR5-6400", 300, False),
        (384, "LPDDR5-6400", 300, True),
        (5120, "HBM3", 3350, True),
        (5120, "HBM3", 2000, False),
        (256, "GDDR6", 320, True),
        (384, "gddr6x", 1008, True),
    ],
)
def test_bandwidth_is_the_bus_times_the_rate_of_its_memory(bus, memory, figure, agrees):
    published = Published("x", {("memory_bus_bits", ""): bus}, {"memory_type": memory})
    assert judged(published, "memory_bandwidth_gb_s", "", figure) == [agrees]


@pytest.mark.parametrize("memory", ["SRAM", "HBM", "on the chip", ""])
def test_memory_whose_rate_is_not_known_is_not_judged(memory):
    published = Published("x", {("memory_bus_bits", ""): 1024}, {"memory_type": memory})
    assert judged(published, "memory_bandwidth_gb_s", "", 1.0) == []


@pytest.mark.parametrize(
    ("lanes", "clock", "words", "figure", "agrees"),
    [
        (1280, 1398, {"metal_gpu_family": "Apple8 (1008)"}, 3.579, True),
        (1280, 1398, {"metal_gpu_family": "Apple8 (1008)"}, 7.16, False),
        (19456, 2100, {"architecture": "CDNA 3"}, 163.4, True),
        (19456, 2100, {"architecture": "CDNA 3"}, 81.7, False),
        (14080, 1700, {"architecture": "CDNA 2"}, 47.9, True),
        (4096, 2970, {"architecture": "RDNA 4.0"}, 48.66, True),
    ],
)
def test_fp32_is_two_or_four_operations_per_clock(lanes, clock, words, figure, agrees):
    field = ("gpu_alus", "gpu_clock_mhz") if "metal_gpu_family" in words else ("cuda_cores", "boost_clock_mhz")
    published = Published("x", {(field[0], ""): lanes, (field[1], ""): clock}, words)
    assert judged(published, "fp32_tflops", DENSE, figure) == [agrees]


def test_a_variant_is_held_against_its_own_figures():
    published = Published(
        "nvidia-jetson-orin-nano-8gb",
        {
            ("sm_count", ""): 8,
            ("boost_clock_mhz", "mode=Super"): 1020,
            ("boost_clock_mhz", "mode=original"): 625,
        },
        {"compute_capability": "8.7"},
    )
    assert judged(published, "int8_tensor_tops", f"{DENSE}; mode=Super", 33.5) == [True]
    assert judged(published, "int8_tensor_tops", f"{DENSE}; mode=original", 33.5) == [False]


def test_an_expectation_says_how_it_came_about():
    (expected,) = expectations(H100_PCIE, FORMULAS["fp32"], "fp32_tflops", DENSE)
    assert str(expected) == "2 × 14,592 lanes × 1,755 MHz = 49.68 – 52.75"


@pytest.mark.parametrize(("printed", "half"), [("67", 0.5), ("1.3", 0.05), ("0.4202", 0.00005), ("about 3", 0.0)])
def test_a_printed_figure_hides_half_of_its_last_digit(printed, half):
    assert half_a_digit(printed) == pytest.approx(half)


def test_every_formula_is_whole_and_used():
    assert {field.formula_name for field in FIELDS.values()} - {""} == set(FORMULAS)
    assert all(field.formula in (None, FORMULAS.get(field.formula_name)) for field in FIELDS.values())
    assert all(str(formula.words) and formula.rules for formula in FORMULAS.values())
    assert all(slowest < fastest for slowest, fastest in PIN_RATES.values())


def test_designs_name_what_products_publish():
    words = ("compute_capability", "architecture", "metal_gpu_family")
    published = {line.value.partition(" (")[0] for line in read_catalogue().specs if line.field in words}
    published |= {line.value for line in read_catalogue().specs if line.field in words}
    published |= {value.removesuffix(".0") for value in published}
    assert set(DESIGNS) - published == set()
