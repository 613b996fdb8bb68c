"""The benchmark `attention`: operations and bytes worked out by hand."""

import pytest

from stackviz.report.measuring.attention import ATTENTION

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
def test_parameters_that_say_nothing_give_no_rate(lacking):
    assert ATTENTION.rate(SMALL | lacking, 1.0) is None
    assert ATTENTION.bounds_of(SMALL | lacking) == ()


def test_math_is_asked_for_what_memory_holds_only():
    cases = ATTENTION.cases("cuda", False)
    assert max(case["sequence"] for case in cases if case["backend"] == "math") == 2048
    assert {case["backend"] for case in cases} == {"auto", "flash", "efficient", "cudnn", "math"}
