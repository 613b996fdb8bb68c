"""A figure is a rate of its benchmark where its unit is that of the samples, whoever shows it."""

import pytest

from stackviz.report.measuring.gemm import GEMM
from stackviz.report.measuring.launch import LAUNCH
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from stackviz.report.measuring.stated_rate import StatedRate, stated_rate

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
