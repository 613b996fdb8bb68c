"""The benchmarks `llm-decode` and `llm-prefill`: weights, operations and bytes worked out by hand."""

import pytest

from stackviz.report.measuring.language_model import MODELS
from stackviz.report.measuring.llm_decode import LLM_DECODE
from stackviz.report.measuring.llm_prefill import LLM_PREFILL

DECODE = {"model": "1B", "dtype": "bf16", "batch": 1, "context": 512}
PROMPT = {"model": "1B", "dtype": "bf16", "batch": 1, "prompt": 512}
# Llama 3.2 1B: 16 layers of queries 2048 x 2048, keys and values 2048 x 512 each, output 2048 x 2048, three matrices of
# 2048 x 8192; an output matrix of 128256 x 2048.
LAYERS = 16 * (4_194_304 + 2 * 1_048_576 + 4_194_304 + 3 * 16_777_216)
HEAD = 262_668_288


@pytest.mark.parametrize(("model", "billion"), [("135M", 0.1345), ("1B", 1.2357), ("8B", 7.5046)])
def test_the_weights_are_those_of_the_models(model, billion):
    """8.03 billion less an input embedding of 0.53: the other two share theirs with the output matrix."""
    assert MODELS[model].read_weights / 1e9 == pytest.approx(billion, abs=1e-4)


def test_a_token_takes_two_operations_for_each_weight_and_those_of_attention():
    attention = 4 * 16 * 32 * 64 * 512  # two products over 512 keys in 32 heads of 64 numbers, in 16 layers
    assert LLM_DECODE.operations(DECODE) == 2 * (LAYERS + HEAD) + attention == 2_538_602_496
    assert LLM_DECODE.operations(DECODE | {"batch": 16}) == 16 * 2_538_602_496


def test_decoding_reads_the_weights_once_and_the_cache_of_each_sequence():
    cache = 512 * 2 * 16 * 8 * 64
    assert LLM_DECODE.bytes_moved(DECODE) == 2 * (LAYERS + HEAD + cache) == 2_488_270_848
    assert LLM_DECODE.bytes_moved(DECODE | {"batch": 16}) == 2 * (LAYERS + HEAD + 16 * cache)


# Of int4 4 bits, and a scale and a zero of 16 bits for 64 of them.
@pytest.mark.parametrize(("weights", "of_a_weight"), [("int8", 1), ("int4", 0.5 + 2 * 2 / 64)], ids=["int8", "int4"])
def test_weights_of_8_and_4_bits_take_fewer_bytes(weights, of_a_weight):
    cache = 2 * 512 * 2 * 16 * 8 * 64
    case = DECODE | {"weights": weights}
    assert LLM_DECODE.bytes_moved(case) == of_a_weight * (LAYERS + HEAD) + cache
    assert LLM_DECODE.operations(case) == LLM_DECODE.operations(DECODE)
    assert LLM_DECODE.smaller(case)[0] == {**case, "model": "135M"}
    assert LLM_PREFILL.bytes_moved(PROMPT | {"weights": weights}) == of_a_weight * (LAYERS + HEAD) + cache


def test_a_format_that_nobody_knows_counts_nothing():
    assert LLM_DECODE.bytes_moved(DECODE | {"weights": "int3"}) is None
    assert LLM_DECODE.rate(DECODE | {"weights": "int3"}, 1.0) is None


def test_a_prompt_is_causal_and_only_its_last_token_has_logits():
    attention = 4 * 16 * 32 * 64 * (512 * 513 // 2)
    assert LLM_PREFILL.operations(PROMPT) == 512 * 2 * LAYERS + 2 * HEAD + attention == 1_014_171_172_864
    assert LLM_PREFILL.bytes_moved(PROMPT) == 2_488_270_848


def test_the_smallest_prompt_is_told_beforehand_by_one_of_16_tokens():
    smallest = {"model": "135M", "dtype": "bf16", "batch": 1, "prompt": 128}
    shorter, factor = LLM_PREFILL.smaller(smallest)
    assert shorter == {**smallest, "prompt": 16}
    assert factor == pytest.approx(8.03, abs=0.01)
    assert LLM_PREFILL.smaller(PROMPT)[0] == smallest


def test_rates_count_all_sequences():
    assert LLM_DECODE.rate(DECODE | {"batch": 16}, 0.01) == 1600
    assert LLM_PREFILL.rate(PROMPT | {"batch": 2}, 0.5) == 2048


def test_one_sequence_waits_for_memory_a_prompt_for_products():
    (memory,) = LLM_DECODE.bounds_of(DECODE)
    assert 3350e9 / memory.divisor == pytest.approx(1346.3, abs=0.1)  # H100 SXM: 3,350 GB/s
    products, memory = LLM_PREFILL.bounds_of(PROMPT)
    assert products.fields == ("bf16_tensor_tflops",)
    assert 989.4e12 / products.divisor == pytest.approx(499_493, rel=1e-4)
    assert 3350e9 / memory.divisor == pytest.approx(689_323, rel=1e-4)


@pytest.mark.parametrize("lacking", [{"model": "3B"}, {"dtype": "fp4"}, {"batch": 0}, {"context": None}])
def test_parameters_that_say_nothing_give_no_rate(lacking):
    params = DECODE | lacking
    assert LLM_DECODE.rate(params, 1.0) is None
    assert LLM_DECODE.bounds_of(params) == ()


def test_parameters_of_a_prompt_that_say_nothing_give_no_rate():
    assert LLM_PREFILL.rate({}, 1.0) is None
    assert LLM_PREFILL.bounds_of({"model": "1B"}) == ()
