"""The benchmark `gemm`: what the error of a product says of the type it was computed in."""

import math

import pytest

from stackviz.report.measuring.benchmark import note_error
from stackviz.report.measuring.gemm import _problem


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
