"""The benchmark `sustained`: the products of `gemm`, for a minute or five."""

import pytest

from stackviz.report.measuring.launch import SUSTAINED
from stackviz.report.measuring.script import script_of

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
