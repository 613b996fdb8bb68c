"""The size of a change of level, in words."""

import pytest

from stackviz.records.series.words import size_text
from stackviz.report.measuring import BENCHMARKS


@pytest.mark.parametrize(
    ("key", "factor", "text"),
    [
        ("gemm", 0.95, "5 % slower"), ("launch", 1.12, "12 % faster"), ("made-up", 0.5, "50 % slower"),
        ("accuracy", 0.95, "5 % lower"), ("accuracy", 1.12, "12 % higher"),
    ],
)  # fmt: skip
def test_a_change_is_one_of_speed_or_of_what_is_no_speed(key, factor, text):
    assert size_text(factor, BENCHMARKS.get(key)) == text
