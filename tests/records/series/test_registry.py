"""The benchmarks we know: rates from seconds, and the published figures that bound them."""

import pytest

from stackviz.base.units import unit
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.series.measurement import benchmark
from stackviz.report.measuring import VERSIONS
from stackviz.report.measuring.gemm import GEMM
from stackviz.report.measuring.memory import MEMORY_COPY


def test_a_matrix_product_does_two_operations_for_each_of_mnk():
    assert GEMM.rate({"m": 8192, "n": 8192, "k": 8192}, 0.0014) == pytest.approx(785.4e12, rel=1e-3)
    assert GEMM.rate({"m": 2, "n": 3, "k": 5}, 1.0) == 60.0


def test_a_copy_moves_each_byte_twice():
    assert MEMORY_COPY.rate({"bytes": 10**9}, 0.001) == 2e12


@pytest.mark.parametrize("params", [{}, {"m": 1, "n": 1}, {"m": 0, "n": 1, "k": 1}, {"m": "8", "n": 1, "k": 1},
                                    {"m": True, "n": 1, "k": 1}, {"m": -1, "n": 1, "k": 1}, {"m": 1e300, "n": 1, "k": 1}])  # fmt: skip
def test_parameters_that_say_nothing_give_no_rate(params):
    assert GEMM.rate(params, 1.0) is None


def test_no_time_gives_no_rate():
    assert GEMM.rate({"m": 1, "n": 1, "k": 1}, None) is None


@pytest.mark.parametrize(
    ("params", "tf32", "fields"),
    [
        ({"dtype": "bf16"}, False, ("bf16_tensor_tflops",)),
        ({"dtype": "fp16"}, False, ("fp16_tensor_tflops", "fp16_tflops")),
        ({"dtype": "fp32"}, False, ("fp32_tflops",)),
        ({"dtype": "fp32"}, True, ("tf32_tensor_tflops",)),
        ({"dtype": "bf16"}, True, ("bf16_tensor_tflops",)),
        ({"dtype": "fp5"}, False, ()),
    ],
)
def test_a_product_is_bounded_by_the_peak_of_its_own_type(params, tf32, fields):
    assert GEMM.bounding_fields(params, tf32=tf32) == fields


def test_copy_is_bounded_by_memory_bandwidth():
    assert MEMORY_COPY.bounding_fields({"bytes": 1, "dtype": "fp16"}) == ("memory_bandwidth_gb_s",)


@pytest.mark.parametrize("known", VERSIONS.values(), ids=lambda known: known.key)
def test_every_bound_is_a_field_in_its_unit(known):
    assert unit(known.unit).si == known.unit
    for dtype, names in known.bounds.items():
        for name in names:
            assert unit(FIELDS[name].unit).si == known.unit_of({"dtype": dtype})


@pytest.mark.parametrize("known", VERSIONS.values(), ids=lambda known: known.key)
def test_every_formula_has_a_source(known):
    assert known.formula
    assert known.source


def test_another_version_is_another_benchmark():
    assert benchmark("gemm", 1) is GEMM
    assert benchmark("gemm", 2) is None
