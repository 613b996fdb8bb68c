"""What each benchmark counts, and what bounds it: figures worked out by hand."""

import math

import pytest

from stackviz.base.stats import Summary
from stackviz.records.series.bound import LANE_BYTES_PER_S, peak_share
from stackviz.records.series.comparability import Basis, best_by, robust_best
from stackviz.records.series.measurement import CardUsed, Rate
from stackviz.report.measuring.attention import ATTENTION
from stackviz.report.measuring.benchmark import note_error
from stackviz.report.measuring.conv import CONV
from stackviz.report.measuring.gemm import _FULL_TYPES, GEMM, _problem
from stackviz.report.measuring.host_device import HOST_DEVICE
from stackviz.report.measuring.launch import LAUNCH, SUSTAINED
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from stackviz.report.measuring.memory import MEMORY
from stackviz.report.measuring.memory_bound import MEMORY_BOUND
from stackviz.report.measuring.script import script_of
from stackviz.report.measuring.stated_rate import StatedRate, stated_rate
from stackviz.report.measuring.train_step import TRAIN_STEP
from tests.records.series.test_measurement import measured


def square(dtype):
    return {"dtype": dtype, "m": 8192, "n": 8192, "k": 8192}


def test_integers_have_operations_and_floats_have_flops():
    assert GEMM.unit_of(square("int8")) == "op/s"
    assert GEMM.unit_of(square("bf16")) == "FLOP/s"


@pytest.mark.parametrize("dtype", sorted({dtype for types in _FULL_TYPES.values() for dtype in types}))
def test_every_planned_type_has_a_peak(dtype):
    assert GEMM.bounding_fields(square(dtype))


# --- The benchmark `conv`: operations and bytes worked out by hand ---

BLOCK = {"op": "block-256", "dtype": "bf16", "batch": 8}


def test_a_convolution_takes_two_operations_for_each_weight_and_pixel():
    assert CONV.operations({"op": "conv3x3-256", "batch": 1}) == 2 * 14 * 14 * 3 * 3 * 256 * 256 == 231_211_008
    assert CONV.operations({"op": "conv7x7-64", "batch": 1}) == 2 * 112 * 112 * 7 * 7 * 3 * 64


def test_a_block_is_its_three_convolutions():
    of_1x1 = 2 * 14 * 14 * 1024 * 256
    assert CONV.operations(BLOCK) == 8 * (of_1x1 + 231_211_008 + of_1x1) == 3_493_855_232
    weights = 1024 * 256 + 9 * 256 * 256 + 256 * 1024
    assert CONV.bytes_moved(BLOCK) == 2 * (8 * 2 * 1024 * 14 * 14 + weights)


def test_the_image_of_the_first_layer_is_read_whole():
    images = 3 * 224 * 224 + 64 * 112 * 112
    assert CONV.bytes_moved({"op": "conv7x7-64", "dtype": "fp32", "batch": 1}) == 4 * (images + 49 * 3 * 64)


def test_the_network_is_that_of_the_paper():
    """torchvision's `resnet50` has 25,557,032 parameters and 4.09 GMAC: without its batch norms and biases these."""
    one = {"op": "resnet-50", "dtype": "fp32", "batch": 1}
    weights = 25_557_032 - 2 * 26_560 - 1000
    assert CONV.bytes_moved(one) == 4 * (3 * 224 * 224 + 1000 + weights)
    assert CONV.operations(one) == 8_178_368_512
    assert CONV.operations({**one, "batch": 8}) == 8 * 8_178_368_512


def test_a_processor_takes_one_image_through_the_network_in_a_standard_suite():
    standard = [
        params for params in CONV.cases("cpu", False) if params["op"] == "resnet-50" and not CONV.is_long("cpu", params)
    ]
    assert standard == [{"op": "resnet-50", "dtype": "fp32", "batch": 1}]
    assert not any(CONV.is_long("cuda", params) for params in CONV.cases("cuda", False))


@pytest.mark.parametrize("params", [{}, {"op": "block-256"}, {"op": "conv9x9-1", "batch": 1, "dtype": "bf16"}])
def test_parameters_that_say_nothing_give_no_bound(params):
    assert CONV.bounds_of(params) == ()


# --- The benchmark `memory`: bytes counted by hand, and what bounds them ---

GIB = 2**30


@pytest.mark.parametrize(("op", "arrays"), [("read", 1), ("write", 1), ("copy", 2), ("triad", 3)])
def test_each_array_counts_once(op, arrays):
    assert MEMORY.bytes_moved({"op": op, "bytes": GIB}) == arrays * 1_073_741_824
    assert MEMORY.rate({"op": op, "bytes": 10**9}, 0.001) == arrays * 1e12


@pytest.mark.parametrize("params", [{}, {"op": "read"}, {"op": "scale", "bytes": 8}, {"op": "read", "bytes": -1}])
def test_parameters_that_say_nothing_give_no_rate(params):
    assert MEMORY.rate(params, 1.0) is None
    assert MEMORY.bounds_of(params) == ()


def test_what_caches_may_hold_is_not_bounded_by_memory():
    assert MEMORY.bounds_of({"op": "read", "bytes": GIB // 4}) == ()
    (bound,) = MEMORY.bounds_of({"op": "triad", "bytes": GIB // 4})
    assert (bound.fields, bound.divisor) == (("memory_bandwidth_gb_s",), 1.0)


# --- The benchmark `launch`: a time, of which less is better ---

QUEUED = {"op": "queued"}


def test_the_rate_is_the_time_of_a_call():
    assert LAUNCH.rate(QUEUED, 4.5e-6) == 4.5e-6
    assert LAUNCH.rates(QUEUED, 4.5e-6, 4e-6, 5e-6) == (4.5e-6, 4e-6, 5e-6)
    assert Rate(4.5e-6, 4e-6, 5e-6, "s").label == "4.5 µs"
    assert LAUNCH.rate({"op": "dropped"}, 1.0) is None


def test_less_is_better_for_times_only():
    assert not LAUNCH.higher_is_better
    assert GEMM.higher_is_better
    assert Rate(4e-6, None, None, "s").speed > Rate(5e-6, None, None, "s").speed
    assert Rate(4.0, None, None, "B/s").speed < Rate(5.0, None, None, "B/s").speed


def test_nothing_published_bounds_it():
    assert LAUNCH.bounds_of(QUEUED) == ()


def launched(seconds, machine=1, width=0.01):
    """A run of this median, whose interval reaches `width` of it to either side."""
    low, high = seconds * (1 - width), seconds * (1 + width)
    summary = Summary(count=12, median=seconds, q1=low, q3=high, low=low, high=high, rounds=3)
    return measured(benchmark_key="launch", params=QUEUED, summary=summary, machine_id=machine)


def test_the_shortest_time_that_another_run_confirms_is_the_best():
    runs = [launched(6e-6), launched(4.1e-6, 2), launched(4e-6, 3)]
    best = robust_best(runs)
    assert (best.result, best.basis) == (runs[2], Basis.CONFIRMED)
    (of_all,) = best_by(lambda _result: "all", runs).values()
    assert of_all.result is runs[2]


def test_times_confirm_each_other_where_their_intervals_overlap():
    shorter, longer = launched(4e-6, width=0.06), launched(4.4e-6, 2, width=0.06)
    assert robust_best([longer, shorter]).result is shorter
    apart = robust_best([launched(4e-6), launched(4.6e-6, 2)])
    assert (apart.basis, apart.rate.value) == (Basis.MEDIAN, 4.6e-6)


# --- The benchmark `sustained`: the products of `gemm`, for a minute or five ---

MINUTE = {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192, "seconds": 60}


def test_it_is_counted_as_the_product_is():
    assert SUSTAINED.operations(MINUTE) == 2 * 8192**3
    assert SUSTAINED.bytes_moved(MINUTE) == 3 * 8192**2 * 2
    assert SUSTAINED.rate(MINUTE, 0.0014) == pytest.approx(785.4e12, rel=1e-3)
    assert [bound.fields for bound in SUSTAINED.bounds_of(MINUTE)] == [("bf16_tensor_tflops",)]


def test_a_minute_is_in_the_standard_suite_five_in_the_full_one():
    assert SUSTAINED.cases("cuda", True) == []
    assert [SUSTAINED.lasts_s(params) for params in SUSTAINED.cases("cuda", False)] == [60, 300]
    assert [SUSTAINED.is_long("cuda", params) for params in SUSTAINED.cases("cuda", False)] == [False, True]


def test_the_program_runs_as_long():
    assert "perf_counter() + 60" in script_of(SUSTAINED, MINUTE, "cuda")


# --- The benchmark `host-device`: bytes, and the link that bounds them ---

CASE = {"direction": "to-device", "memory": "pinned", "bytes": 256 * 2**20}
SLOT = {"pcie_generation_max": 5, "pcie_width_max": 16}


def share(facts, rate=50e9):
    card = CardUsed(0, "NVIDIA H100 PCIe", 1, facts)
    return peak_share(Rate(rate, None, None, "B/s"), card, HOST_DEVICE.bounds_of(CASE), {})


def test_each_byte_crosses_the_link_once():
    assert HOST_DEVICE.rate(CASE, 0.01) == pytest.approx(26.84e9, rel=1e-3)
    assert HOST_DEVICE.rate({"bytes": 8}, 1.0) is None


def test_the_slot_bounds_it():
    found = share(SLOT)
    assert found.peak == pytest.approx(63.02e9, rel=1e-3)
    assert (found.condition, found.label) == ("PCIe 5.0 x16", "79 %")


@pytest.mark.parametrize("facts", [{}, SLOT | {"pcie_generation_max": 9}, SLOT | {"unified_memory": True},
                                   SLOT | {"addressing_mode": "ATS"}, {"pcie_generation_max": 5}])  # fmt: skip
def test_no_bound_is_guessed_for_other_links(facts):
    assert share(facts) is None


def test_lanes_carry_what_encoding_leaves():
    assert [round(rate / 1e9, 3) for rate in LANE_BYTES_PER_S.values()] == [0.25, 0.5, 0.985, 1.969, 3.938, 7.562]


def test_a_processor_has_no_link():
    assert "no link" in HOST_DEVICE.not_on["cpu"]


# --- A figure is a rate of its benchmark where its unit is that of the samples, whoever shows it ---

PRODUCT = {"dtype": "fp32", "m": 1000, "n": 1000, "k": 1000}
DECODE = {"model": "Llama 2 7B", "test": "tg128"}


def test_the_longest_time_is_the_lowest_rate_and_the_highest_rate_the_highest():
    assert stated_rate(GEMM, PRODUCT, "s", 0.002, 0.001, 0.004) == StatedRate(1e12, 5e11, 2e12, "FLOP/s")
    assert stated_rate(LLAMA_BENCH, DECODE, "token/s", 150.0, 148.0, 153.0) == (150.0, 148.0, 153.0, "token/s")
    assert stated_rate(LAUNCH, {"op": "queued"}, "s", 3e-6, 2e-6, 4e-6) == (3e-6, 2e-6, 4e-6, "s")


@pytest.mark.parametrize(
    ("known", "params", "unit", "middle"),
    [
        (None, PRODUCT, "s", 0.002),
        (GEMM, PRODUCT, "ms", 2.0),
        (GEMM, {"dtype": "fp32"}, "s", 0.002),
        (GEMM, PRODUCT, "s", None),
        (GEMM, PRODUCT, "s", 1e-30),
        (LLAMA_BENCH, DECODE, "s", 1.0),
    ],
)
def test_what_defines_no_rate_has_none(known, params, unit, middle):
    assert stated_rate(known, params, unit, middle) is None


@pytest.mark.parametrize(("low", "high"), [(None, 0.004), (0.001, None), (1e-30, 0.004)])
def test_an_interval_with_one_end_is_none(low, high):
    assert stated_rate(GEMM, PRODUCT, "s", 0.002, low, high) == (1e12, None, None, "FLOP/s")


# --- The benchmark `gemm`: what the error of a product says of the type it was computed in ---


@pytest.mark.parametrize(
    ("off", "dtype", "says"),
    [
        (3e-6, "fp32", None),
        (3e-4, "fp32", "the product is wrong: off by 0.0003 of its largest value"),  # TF32
        (3e-4, "tf32", None),
        (3e-6, "tf32", "TF32 was not in effect: off by 3e-06 of its largest value only, as fp32 is"),
        (0.0, "int8", None),
        (1e-9, "int8", "the product is wrong: off by 1e-09 of its largest value"),
        (math.nan, "bf16", "the product is wrong: off by nan of its largest value"),
        (math.inf, "fp64", "the product is wrong: off by inf of its largest value"),
    ],
)
def test_an_error_tells_the_type_that_was_computed_in(off, dtype, says):
    assert _problem(off, dtype) == says


def test_an_error_is_noted_beside_what_the_result_was_made_with():
    conditions = {"inputs": "uniform"}
    assert note_error(conditions, 2.5e-7) == 2.5e-7
    assert conditions == {"inputs": "uniform", "relative_error": 2.5e-7}


# --- The benchmark `attention`: operations and bytes worked out by hand ---

SMALL = {
    "direction": "forward", "dtype": "fp32", "backend": "auto", "sequence": 1024, "mask": "causal", "batch": 1, "heads": 16,
    "head_dim": 64,
}  # fmt: skip
PAIRS = 1024 * 1025 // 2  # a token sees itself and those before it


def test_a_pair_of_tokens_takes_two_products_forward_and_five_backward():
    assert ATTENTION.operations(SMALL) == 16 * PAIRS * 64 * 2 * 2 == 2_149_580_800
    assert ATTENTION.operations(SMALL | {"direction": "backward"}) == 16 * PAIRS * 64 * 2 * 5
    assert ATTENTION.operations(SMALL | {"mask": "none"}) == 16 * 1024**2 * 64 * 2 * 2


def test_four_arrays_are_moved_forward_and_eight_backward():
    array = 16 * 1024 * 64 * 4
    assert ATTENTION.bytes_moved(SMALL) == 4 * array
    assert ATTENTION.bytes_moved(SMALL | {"direction": "backward", "dtype": "bf16"}) == 8 * array / 2


def test_the_longer_of_two_times_bounds_it():
    products, memory = ATTENTION.bounds_of(SMALL | {"dtype": "bf16"})
    assert (products.fields, products.divisor) == (("bf16_tensor_tflops",), 1.0)
    assert memory.divisor == pytest.approx(4 * 16 * 1024 * 64 * 2 / 2_149_580_800)


@pytest.mark.parametrize("lacking", [{"direction": "sideways"}, {"heads": 0}, {"sequence": "long"}])
def test_attention_without_parameters_has_no_rate(lacking):
    assert ATTENTION.rate(SMALL | lacking, 1.0) is None
    assert ATTENTION.bounds_of(SMALL | lacking) == ()


def test_math_is_asked_for_what_memory_holds_only():
    cases = ATTENTION.cases("cuda", False)
    assert max(case["sequence"] for case in cases if case["backend"] == "math") == 2048
    assert {case["backend"] for case in cases} == {"auto", "flash", "efficient", "cudnn", "math"}


# --- The benchmark `memory-bound`: bytes worked out by hand ---

ROWS = {"op": "softmax", "dtype": "bf16", "rows": 32768, "columns": 8192}


def test_an_operator_reads_its_inputs_and_writes_its_output_once():
    array = 32768 * 8192 * 2
    assert MEMORY_BOUND.bytes_moved(ROWS) == 2 * array == 1_073_741_824
    assert MEMORY_BOUND.bytes_moved(ROWS | {"op": "add"}) == 3 * array
    assert MEMORY_BOUND.rate(ROWS, 0.001) == pytest.approx(1.0737e12, rel=1e-4)


def test_rows_that_caches_may_hold_are_not_bounded():
    (bound,) = MEMORY_BOUND.bounds_of(ROWS)
    assert (bound.fields, bound.divisor) == (("memory_bandwidth_gb_s",), 1.0)
    assert MEMORY_BOUND.bounds_of(ROWS | {"rows": 4096}) == ()


@pytest.mark.parametrize(
    "params", [{}, {"op": "tanh", "dtype": "bf16", "rows": 1, "columns": 1}, ROWS | {"dtype": "fp4"}]
)
def test_memory_bound_without_parameters_has_no_rate(params):
    assert MEMORY_BOUND.rate(params, 1.0) is None
    assert MEMORY_BOUND.bounds_of(params) == ()


# --- The benchmark `train-step`: operations and bytes worked out by hand ---

STEP = {"model": "1B", "dtype": "bf16", "batch": 2, "sequence": 2048, "mode": "eager"}
# Llama 3.2 1B, config.json: per layer 3072 rows of queries, keys, values, 2048 of output, 3 x 8192 of the MLP.
WEIGHTS = 16 * 2048 * (3072 + 2048 + 3 * 8192) + 128256 * 2048


def test_a_step_takes_six_operations_for_each_weight_and_token_and_causal_attention_thrice():
    attention = 4 * 16 * 32 * 64 * 2048 * 2049 / 2
    assert WEIGHTS == 1_235_746_816
    assert TRAIN_STEP.operations(STEP) == 6 * 2 * 2048 * WEIGHTS + 3 * 2 * attention


def test_of_the_weights_and_their_moments_ten_accesses_are_counted():
    assert TRAIN_STEP.bytes_moved(STEP) == 10 * 2 * WEIGHTS


def test_the_rate_is_in_tokens_and_bounded_by_the_tensor_peak():
    assert TRAIN_STEP.rate(STEP, 0.5) == 2 * 2048 / 0.5
    compute, memory = TRAIN_STEP.bounds_of(STEP)
    assert compute.fields == ("bf16_tensor_tflops",)
    assert compute.divisor == pytest.approx(TRAIN_STEP.operations(STEP) / 4096)
    assert memory.fields == ("memory_bandwidth_gb_s",)


def test_memory_has_room_for_weights_gradients_two_moments_and_the_logits():
    assert TRAIN_STEP.working_set_bytes(STEP) > 4 * 2 * WEIGHTS + 2 * 2048 * 128256 * 10


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_every_case_has_a_shorter_step_to_tell_beforehand_that_it_would_take_too_long(dtype):
    smallest = {"model": "135M", "dtype": dtype, "batch": 1, "sequence": 128, "mode": "eager"}
    assert TRAIN_STEP.smaller(smallest) == ({**smallest, "sequence": 16}, 2.4)
    larger, factor = TRAIN_STEP.smaller({**smallest, "sequence": 1024})
    assert larger == smallest
    assert 8 < factor < 9  # attention grows with the square


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "cpu"])
def test_torch_compiles_only_where_accelerators_have_triton(kind):
    cases = TRAIN_STEP.cases(kind, False)
    assert ({case["mode"] for case in cases} == {"eager", "compiled"}) is (kind in {"cuda", "xpu"})
    assert all(case["mode"] == "eager" for case in TRAIN_STEP.cases(kind, True))


@pytest.mark.parametrize("params", [{}, {"model": "1B", "dtype": "bf16", "batch": 1}, {**STEP, "model": "9B"}])
def test_train_step_without_parameters_has_no_bound(params):
    assert TRAIN_STEP.bounds_of(params) == ()
