"""What each benchmark counts, and what bounds it: figures worked out by hand."""

import math

import pytest

from stackviz.base.stats import Summary
from stackviz.base.units import unit
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.series.bound import LANE_BYTES_PER_S, peak_share
from stackviz.records.series.comparability import Basis, best_by, robust_best
from stackviz.records.series.measurement import CardUsed, Rate, benchmark
from stackviz.report.measuring import VERSIONS
from stackviz.report.measuring.attention import ATTENTION
from stackviz.report.measuring.benchmark import note_error
from stackviz.report.measuring.conv import CONV
from stackviz.report.measuring.gemm import _FULL_TYPES, GEMM, _problem
from stackviz.report.measuring.host_device import HOST_DEVICE
from stackviz.report.measuring.language_model import MODELS
from stackviz.report.measuring.launch import LAUNCH, SUSTAINED
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from stackviz.report.measuring.llm_decode import LLM_DECODE
from stackviz.report.measuring.llm_prefill import LLM_PREFILL
from stackviz.report.measuring.memory import MEMORY, MEMORY_COPY
from stackviz.report.measuring.memory_bound import MEMORY_BOUND
from stackviz.report.measuring.script import script_of
from stackviz.report.measuring.stated_rate import stated_rate
from stackviz.report.measuring.train_step import TRAIN_STEP
from tests.records.series.test_measurement import measured

GIB = 2**30
PRODUCT = {"dtype": "fp32", "m": 1000, "n": 1000, "k": 1000}
MINUTE = {"dtype": "bf16", "m": 8192, "n": 8192, "k": 8192, "seconds": 60}
BLOCK = {"op": "block-256", "dtype": "bf16", "batch": 8}
RESNET = {"op": "resnet-50", "dtype": "fp32", "batch": 1}
QUEUED = {"op": "queued"}
ATTEND = {
    "direction": "forward", "dtype": "fp32", "backend": "auto", "sequence": 1024, "mask": "causal", "batch": 1,
    "heads": 16, "head_dim": 64,
}  # fmt: skip
ROWS = {"op": "softmax", "dtype": "bf16", "rows": 32768, "columns": 8192}
STEP = {"model": "1B", "dtype": "bf16", "batch": 2, "sequence": 2048, "mode": "eager"}
DECODE = {"model": "1B", "dtype": "bf16", "batch": 1, "context": 512}
PROMPT = {"model": "1B", "dtype": "bf16", "batch": 1, "prompt": 512}
HOST = {"direction": "to-device", "memory": "pinned", "bytes": 256 * 2**20}
LLAMA = {"model": "Llama 2 7B", "test": "tg128"}

# --- Operations: of a product two for each of m, n and k; of others as the comment beside the figure says ---

OF_1X1 = 2 * 14 * 14 * 1024 * 256
PAIRS = 1024 * 1025 // 2  # a token sees itself and those before it
# Llama 3.2 1B, config.json: 16 layers of queries 2048 x 2048, keys and values 2048 x 512 each, output 2048 x 2048,
# three matrices of 2048 x 8192; an output matrix of 128256 x 2048.
LAYERS = 16 * (4_194_304 + 2 * 1_048_576 + 4_194_304 + 3 * 16_777_216)
HEAD = 262_668_288
WEIGHTS = LAYERS + HEAD


@pytest.mark.parametrize(
    ("known", "params", "operations"),
    [
        (SUSTAINED, MINUTE, 2 * 8192**3),
        (CONV, {"op": "conv3x3-256", "batch": 1}, 231_211_008),  # two for each weight and pixel
        (CONV, {"op": "conv7x7-64", "batch": 1}, 2 * 112 * 112 * 7 * 7 * 3 * 64),
        (CONV, BLOCK, 8 * (OF_1X1 + 231_211_008 + OF_1X1)),  # its three convolutions
        (CONV, RESNET, 8_178_368_512),  # torchvision: 4.09 GMAC
        (CONV, RESNET | {"batch": 8}, 8 * 8_178_368_512),
        (ATTENTION, ATTEND, 2_149_580_800),  # two products
        (ATTENTION, ATTEND | {"direction": "backward"}, 16 * PAIRS * 64 * 2 * 5),  # five
        (ATTENTION, ATTEND | {"mask": "none"}, 16 * 1024**2 * 64 * 2 * 2),
        # six for each weight and token, and causal attention thrice
        (TRAIN_STEP, STEP, 6 * 2 * 2048 * 1_235_746_816 + 3 * 2 * 4 * 16 * 32 * 64 * 2048 * 2049 / 2),
        (LLM_DECODE, DECODE, 2_538_602_496),  # two for each weight, two products over 512 keys in 32 heads of 64
        (LLM_DECODE, DECODE | {"batch": 16}, 16 * 2_538_602_496),
        (LLM_DECODE, DECODE | {"weights": "int4"}, 2_538_602_496),
        (LLM_PREFILL, PROMPT, 1_014_171_172_864),  # causal, and only the last token has logits
    ],
)
def test_operations_are_those_worked_out_by_hand(known, params, operations):
    assert known.operations(params) == operations


# --- Bytes: each array counts once, whatever reads it again ---

CACHE = 512 * 2 * 16 * 8 * 64
ARRAYS = {"read": 1, "write": 1, "copy": 2, "triad": 3}


@pytest.mark.parametrize(
    ("known", "params", "moved"),
    [
        *((MEMORY, {"op": op, "bytes": GIB}, n * GIB) for op, n in ARRAYS.items()),
        (SUSTAINED, MINUTE, 3 * 8192**2 * 2),
        (CONV, BLOCK, 2 * (8 * 2 * 1024 * 14 * 14 + 1024 * 256 + 9 * 256 * 256 + 256 * 1024)),
        # the image of the first layer is read whole
        (CONV, {"op": "conv7x7-64", "dtype": "fp32", "batch": 1}, 4 * (3 * 224 * 224 + 64 * 112 * 112 + 49 * 3 * 64)),
        # torchvision's `resnet50` has 25,557,032 parameters, those of batch norms and biases among them
        (CONV, RESNET, 4 * (3 * 224 * 224 + 1000 + 25_557_032 - 2 * 26_560 - 1000)),
        (ATTENTION, ATTEND, 4 * 16 * 1024 * 64 * 4),
        (ATTENTION, ATTEND | {"direction": "backward", "dtype": "bf16"}, 8 * 16 * 1024 * 64 * 2),
        (MEMORY_BOUND, ROWS, 1_073_741_824),
        (MEMORY_BOUND, ROWS | {"op": "add"}, 3 * 32768 * 8192 * 2),
        (TRAIN_STEP, STEP, 10 * 2 * WEIGHTS),  # ten accesses of weights and moments
        (LLM_DECODE, DECODE, 2_488_270_848),  # the weights once, and the cache of each sequence
        (LLM_DECODE, DECODE | {"batch": 16}, 2 * (WEIGHTS + 16 * CACHE)),
        (LLM_DECODE, DECODE | {"weights": "int8"}, WEIGHTS + 2 * CACHE),
        (LLM_DECODE, DECODE | {"weights": "int4"}, (0.5 + 2 * 2 / 64) * WEIGHTS + 2 * CACHE),  # scale, zero
        (LLM_DECODE, DECODE | {"weights": "int3"}, None),
        (LLM_PREFILL, PROMPT, 2_488_270_848),
        (LLM_PREFILL, PROMPT | {"weights": "int8"}, WEIGHTS + 2 * CACHE),
    ],
)  # fmt: skip
def test_bytes_are_those_worked_out_by_hand(known, params, moved):
    assert known.bytes_moved(params) == moved


# --- Rates ---


@pytest.mark.parametrize(
    ("known", "params", "seconds", "rate"),
    [
        (GEMM, {"m": 8192, "n": 8192, "k": 8192}, 0.0014, 785.4e12),
        (GEMM, {"m": 2, "n": 3, "k": 5}, 1.0, 60.0),
        (SUSTAINED, MINUTE, 0.0014, 785.4e12),
        (MEMORY_COPY, {"bytes": 10**9}, 0.001, 2e12),
        (MEMORY, {"op": "triad", "bytes": 10**9}, 0.001, 3e12),
        (MEMORY_BOUND, ROWS, 0.001, 1.0737e12),
        (LAUNCH, QUEUED, 4.5e-6, 4.5e-6),  # the time of a call
        (HOST_DEVICE, HOST, 0.01, 26.84e9),
        (TRAIN_STEP, STEP, 0.5, 8192),  # tokens
        (LLM_DECODE, DECODE | {"batch": 16}, 0.01, 1600),
        (LLM_PREFILL, PROMPT | {"batch": 2}, 0.5, 2048),
    ],
)
def test_a_rate_is_the_work_over_the_time(known, params, seconds, rate):
    assert known.rate(params, seconds) == pytest.approx(rate, rel=1e-3)
    assert known.rate(params, None) is None


NOTHING = [
    *((GEMM, {"m": 1, "n": 1, "k": 1} | lacking)
      for lacking in ({"k": None}, {"m": 0}, {"m": "8"}, {"m": True}, {"m": -1}, {"m": 1e300})),
    (GEMM, {}),
    (CONV, {}), (CONV, {"op": "block-256"}), (CONV, {"op": "conv9x9-1", "batch": 1, "dtype": "bf16"}),
    (MEMORY, {}), (MEMORY, {"op": "read"}), (MEMORY, {"op": "scale", "bytes": 8}),
    (MEMORY, {"op": "read", "bytes": -1}),
    (LAUNCH, {"op": "dropped"}),
    (ATTENTION, ATTEND | {"direction": "sideways"}), (ATTENTION, ATTEND | {"heads": 0}),
    (ATTENTION, ATTEND | {"sequence": "long"}),
    (MEMORY_BOUND, {}), (MEMORY_BOUND, ROWS | {"op": "tanh"}), (MEMORY_BOUND, ROWS | {"dtype": "fp4"}),
    (TRAIN_STEP, {}), (TRAIN_STEP, {"model": "1B", "dtype": "bf16", "batch": 1}), (TRAIN_STEP, STEP | {"model": "9B"}),
    *((LLM_DECODE, DECODE | lacking)
      for lacking in ({"model": "3B"}, {"dtype": "fp4"}, {"batch": 0}, {"context": None}, {"weights": "int3"})),
    (LLM_PREFILL, {}), (LLM_PREFILL, {"model": "1B"}),
]  # fmt: skip


@pytest.mark.parametrize(("known", "params"), NOTHING)
def test_parameters_that_say_nothing_give_no_rate_and_no_bound(known, params):
    assert known.rate(params, 1.0) is None
    assert known is GEMM or known.bounds_of(params) == ()


def test_the_longest_time_is_the_lowest_rate():
    assert stated_rate(GEMM, PRODUCT, "s", 0.002, 0.001, 0.004) == (1e12, 5e11, 2e12, "FLOP/s")
    assert stated_rate(LLAMA_BENCH, LLAMA, "token/s", 150.0, 148.0, 153.0) == (150.0, 148.0, 153.0, "token/s")
    assert stated_rate(LAUNCH, QUEUED, "s", 3e-6, 2e-6, 4e-6) == (3e-6, 2e-6, 4e-6, "s")
    for low, high in ((None, 0.004), (0.001, None), (1e-30, 0.004)):  # an interval with one end
        assert stated_rate(GEMM, PRODUCT, "s", 0.002, low, high) == (1e12, None, None, "FLOP/s")


@pytest.mark.parametrize(
    ("known", "params", "unit", "middle"),
    [
        (None, PRODUCT, "s", 0.002),
        (GEMM, PRODUCT, "ms", 2.0),
        (GEMM, {"dtype": "fp32"}, "s", 0.002),
        (GEMM, PRODUCT, "s", None),
        (GEMM, PRODUCT, "s", 1e-30),
        (LLAMA_BENCH, LLAMA, "s", 1.0),
    ],
)
def test_what_defines_no_rate_has_none(known, params, unit, middle):
    assert stated_rate(known, params, unit, middle) is None


# --- Bounds: published figures in the unit of the rate, and what the rate is divided by ---


@pytest.mark.parametrize(
    ("params", "tf32", "fields"),
    [
        ({"dtype": "bf16"}, False, ("bf16_tensor_tflops",)),
        ({"dtype": "fp16"}, False, ("fp16_tensor_tflops", "fp16_tflops")),
        ({"dtype": "fp32"}, False, ("fp32_tflops",)),
        ({"dtype": "fp32"}, True, ("tf32_tensor_tflops",)),
        ({"dtype": "bf16"}, True, ("bf16_tensor_tflops",)),
        ({"dtype": "fp5"}, False, ()),
    ],
)
def test_a_product_is_bounded_by_the_peak_of_its_own_type(params, tf32, fields):
    assert GEMM.bounding_fields(params, tf32=tf32) == fields


@pytest.mark.parametrize(
    ("known", "params", "bounds"),
    [
        (SUSTAINED, MINUTE, [("bf16_tensor_tflops", 1.0)]),
        (MEMORY_COPY, {"bytes": GIB, "dtype": "fp16"}, [("memory_bandwidth_gb_s", 1.0)]),
        (MEMORY, {"op": "triad", "bytes": GIB // 4}, [("memory_bandwidth_gb_s", 1.0)]),
        (MEMORY, {"op": "read", "bytes": GIB // 4}, []),  # caches may hold it
        (MEMORY_BOUND, ROWS, [("memory_bandwidth_gb_s", 1.0)]),
        (MEMORY_BOUND, ROWS | {"rows": 4096}, []),
        (LAUNCH, QUEUED, []),
        (
            ATTENTION, ATTEND | {"dtype": "bf16"},
            [("bf16_tensor_tflops", 1.0), ("memory_bandwidth_gb_s", 4 * 16 * 1024 * 64 * 2 / 2_149_580_800)],
        ),
        (
            TRAIN_STEP, STEP,
            [("bf16_tensor_tflops", TRAIN_STEP.operations(STEP) / 4096),
             ("memory_bandwidth_gb_s", 10 * 2 * WEIGHTS / 4096)],
        ),
        (LLM_DECODE, DECODE, [("memory_bandwidth_gb_s", 3350e9 / 1346.3)]),  # H100 SXM: 3,350 GB/s, 989.4 TFLOPS
        (
            LLM_PREFILL, PROMPT,
            [("bf16_tensor_tflops", 989.4e12 / 499_493), ("memory_bandwidth_gb_s", 3350e9 / 689_323)],
        ),
    ],
)  # fmt: skip
def test_a_rate_is_bounded_by_what_it_needs_most(known, params, bounds):
    found = known.bounds_of(params)
    assert [bound.fields[0] for bound in found] == [field for field, _divisor in bounds]
    assert [bound.divisor for bound in found] == pytest.approx([divisor for _field, divisor in bounds], rel=1e-4)


@pytest.mark.parametrize("dtype", sorted({dtype for types in _FULL_TYPES.values() for dtype in types}))
def test_every_planned_type_has_a_peak(dtype):
    assert GEMM.bounding_fields({"dtype": dtype})
    assert GEMM.unit_of({"dtype": dtype}) == ("op/s" if dtype.startswith("int") else "FLOP/s")


@pytest.mark.parametrize("known", VERSIONS.values(), ids=lambda known: known.key)
def test_every_bound_is_a_field_in_its_unit_with_a_source(known):
    assert unit(known.unit).si == known.unit
    assert known.formula
    assert known.source
    for dtype, names in known.bounds.items():
        for name in names:
            assert unit(FIELDS[name].unit).si == known.unit_of({"dtype": dtype})


def test_another_version_is_another_benchmark():
    assert (benchmark("gemm", 1), benchmark("gemm", 2)) == (GEMM, None)


SLOT = {"pcie_generation_max": 5, "pcie_width_max": 16}


def link_share(facts):
    card = CardUsed(0, "NVIDIA H100 PCIe", 1, facts)
    return peak_share(Rate(50e9, None, None, "B/s"), card, HOST_DEVICE.bounds_of(HOST), {})


def test_the_slot_bounds_what_crosses_it():
    found = link_share(SLOT)
    assert found.peak == pytest.approx(63.02e9, rel=1e-3)
    assert (found.condition, found.label) == ("PCIe 5.0 x16", "79 %")
    assert [round(rate / 1e9, 3) for rate in LANE_BYTES_PER_S.values()] == [0.25, 0.5, 0.985, 1.969, 3.938, 7.562]
    assert HOST_DEVICE.not_on["cpu"]


@pytest.mark.parametrize("facts", [{}, SLOT | {"pcie_generation_max": 9}, SLOT | {"unified_memory": True},
                                   SLOT | {"addressing_mode": "ATS"}, {"pcie_generation_max": 5}])  # fmt: skip
def test_no_bound_is_guessed_for_other_links(facts):
    assert link_share(facts) is None


# --- Cases: what is run where ---


def test_cases_are_as_long_as_their_suite():
    of_network = [params for params in CONV.cases("cpu", False) if params["op"] == "resnet-50"]
    assert [params for params in of_network if not CONV.is_long("cpu", params)] == [RESNET]
    assert not any(CONV.is_long("cuda", params) for params in CONV.cases("cuda", False))
    assert SUSTAINED.cases("cuda", True) == []
    lasting = [
        (SUSTAINED.lasts_s(params), SUSTAINED.is_long("cuda", params)) for params in SUSTAINED.cases("cuda", False)
    ]
    assert lasting == [(60, False), (300, True)]
    assert "perf_counter() + 60" in script_of(SUSTAINED, MINUTE, "cuda")


def test_math_is_asked_for_what_memory_holds_only():
    cases = ATTENTION.cases("cuda", False)
    assert max(case["sequence"] for case in cases if case["backend"] == "math") == 2048
    assert {case["backend"] for case in cases} == {"auto", "flash", "efficient", "cudnn", "math"}


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "cpu"])
def test_torch_compiles_only_where_accelerators_have_triton(kind):
    cases = TRAIN_STEP.cases(kind, False)
    assert ({case["mode"] for case in cases} == {"eager", "compiled"}) is (kind in {"cuda", "xpu"})
    assert all(case["mode"] == "eager" for case in TRAIN_STEP.cases(kind, True))


def test_a_training_step_has_room_for_all_it_keeps():
    assert TRAIN_STEP.working_set_bytes(STEP) > 4 * 2 * WEIGHTS + 2 * 2048 * 128256 * 10


SMALLEST = {"model": "135M", "dtype": "bf16", "batch": 1}


@pytest.mark.parametrize(
    ("known", "params", "smaller", "factor"),
    [
        (TRAIN_STEP, STEP | SMALLEST | {"sequence": 128}, STEP | SMALLEST | {"sequence": 16}, 2.4),
        # attention grows with the square
        (TRAIN_STEP, STEP | SMALLEST | {"sequence": 1024}, STEP | SMALLEST | {"sequence": 128}, 8.5),
        (LLM_PREFILL, SMALLEST | {"prompt": 128}, SMALLEST | {"prompt": 16}, 8.03),
        (LLM_PREFILL, PROMPT, SMALLEST | {"prompt": 128}, None),
        (LLM_DECODE, DECODE | {"weights": "int8"}, DECODE | {"weights": "int8", "model": "135M"}, None),
    ],
)
def test_a_smaller_case_tells_how_long_a_case_would_take(known, params, smaller, factor):
    found, times = known.smaller(params)
    assert found == smaller
    assert factor is None or times == pytest.approx(factor, rel=0.06)


@pytest.mark.parametrize(("model", "billion"), [("135M", 0.1345), ("1B", 1.2357), ("8B", 7.5046)])
def test_the_weights_are_those_of_the_models(model, billion):
    """8.03 billion less an input embedding of 0.53: the other two share theirs with the output matrix."""
    assert MODELS[model].read_weights / 1e9 == pytest.approx(billion, abs=1e-4)


# --- Times, of which less is better ---


def launched(seconds, machine=1, width=0.01):
    """A run of this median, whose interval reaches `width` of it to either side."""
    low, high = seconds * (1 - width), seconds * (1 + width)
    summary = Summary(count=12, median=seconds, q1=low, q3=high, low=low, high=high, rounds=3)
    return measured(benchmark_key="launch", params=QUEUED, summary=summary, machine_id=machine)


def test_less_is_better_for_times_only():
    assert (LAUNCH.higher_is_better, GEMM.higher_is_better) == (False, True)
    assert LAUNCH.rates(QUEUED, 4.5e-6, 4e-6, 5e-6) == (4.5e-6, 4e-6, 5e-6)
    assert Rate(4.5e-6, 4e-6, 5e-6, "s").label == "4.5 µs"
    assert Rate(4e-6, None, None, "s").speed > Rate(5e-6, None, None, "s").speed
    assert Rate(4.0, None, None, "B/s").speed < Rate(5.0, None, None, "B/s").speed


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


# --- What the error of a product says of the type it was computed in ---


@pytest.mark.parametrize(
    ("off", "dtype", "says"),
    [
        (3e-6, "fp32", ""),
        (3e-4, "fp32", "the product is wrong"),  # TF32
        (3e-4, "tf32", ""),
        (3e-6, "tf32", "TF32 was not in effect"),
        (0.0, "int8", ""),
        (1e-9, "int8", "the product is wrong"),
        (math.nan, "bf16", "the product is wrong"),
        (math.inf, "fp64", "the product is wrong"),
    ],
)
def test_an_error_tells_the_type_that_was_computed_in(off, dtype, says):
    problem = _problem(off, dtype)
    assert (problem or "").startswith(says)
    assert (problem is None) is (says == "")
    conditions = {"inputs": "uniform"}
    assert note_error(conditions, 2.5e-7) == 2.5e-7
    assert conditions == {"inputs": "uniform", "relative_error": 2.5e-7}
