"""The benchmark `memory`: bytes counted by hand, and what bounds them."""

import pytest

from stackviz.report.measuring.memory import MEMORY

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
