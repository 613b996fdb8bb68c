"""The benchmark `memory-bound`: bytes worked out by hand."""

import pytest

from stackviz.report.measuring.memory_bound import MEMORY_BOUND

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
def test_parameters_that_say_nothing_give_no_rate(params):
    assert MEMORY_BOUND.rate(params, 1.0) is None
    assert MEMORY_BOUND.bounds_of(params) == ()
