"""Every dtype the agent measures is read in its own unit, against the peak of the same type."""

import pytest

from stackviz.report.measuring.gemm import _FULL_TYPES, GEMM


def square(dtype):
    return {"dtype": dtype, "m": 8192, "n": 8192, "k": 8192}


def test_integers_have_operations_and_floats_have_flops():
    assert GEMM.unit_of(square("int8")) == "op/s"
    assert GEMM.unit_of(square("bf16")) == "FLOP/s"


@pytest.mark.parametrize("dtype", sorted({dtype for types in _FULL_TYPES.values() for dtype in types}))
def test_every_planned_type_has_a_peak(dtype):
    assert GEMM.bounding_fields(square(dtype))
