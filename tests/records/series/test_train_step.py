"""The benchmark `train-step`: operations and bytes worked out by hand."""

import pytest

from stackviz.report.measuring.train_step import TRAIN_STEP

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
def test_parameters_that_say_nothing_give_no_bound(params):
    assert TRAIN_STEP.bounds_of(params) == ()
