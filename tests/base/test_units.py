"""Quantities keep their meaning through conversion and read well."""

import doctest
import math

import pytest

from stackviz.base import units
from stackviz.base.units import (
    UNITS,
    UnknownUnit,
    format_at_least,
    format_factor,
    format_in,
    format_number,
    format_quantity,
    from_si,
    to_si,
)


def test_examples_in_the_docstrings_are_true():
    assert doctest.testmod(units).failed == 0


@pytest.mark.parametrize(
    ("value", "symbol", "amount"),
    [
        (3350, "GB/s", 3.35e12),
        (80, "GB", 80e9),
        (80, "GiB", 85_899_345_920),
        (989.4, "TFLOPS", 989.4e12),
        (1830, "MHz", 1.83e9),
        (814, "mm2", 814e-6),
    ],
)
def test_printed_units_become_si(value, symbol, amount):
    assert to_si(value, symbol) == pytest.approx(amount, rel=1e-12)


@pytest.mark.parametrize("symbol", sorted(UNITS))
def test_every_unit_converts_there_and_back(symbol):
    assert from_si(to_si(7.25, symbol), symbol) == pytest.approx(7.25)


@pytest.mark.parametrize(
    ("amount", "si", "label"),
    [
        (3.35e12, "B/s", "3.35 TB/s"),
        (4e11, "B/s", "400 GB/s"),
        (989.4e12, "FLOP/s", "989.4 TFLOP/s"),
        (700, "W", "700 W"),
        (0.00012, "s", "120 µs"),
        (0, "B", "0 B"),
        (18, "count", "18"),
    ],
)
def test_quantities_are_scaled_for_people(amount, si, label):
    assert format_quantity(amount, si).label == label
    assert format_quantity(80 * 2**30, "B", binary=True).label == "80 GiB"
    assert format_in(3.352e12, "GB/s").exact == "3,352,000,000,000 B/s"


@pytest.mark.parametrize(
    ("value", "symbol", "error", "words"),
    [
        (1, "furlong", UnknownUnit, "furlong"),
        (float("nan"), "W", ValueError, "finite"),
        (float("inf"), "W", ValueError, "finite"),
    ],
)
def test_what_is_no_quantity_is_refused(value, symbol, error, words):
    with pytest.raises(error, match=words):
        to_si(value, symbol)


def test_factors_read_as_factors():
    assert [format_factor(f) for f in (2.94, 0.119, 1234.5, 1.0)] == ["2.9×", "0.12×", "1,234×", "1×"]
    assert [format_factor(f) for f in (1.0534, 1.004, 1.0999, 0.953)] == ["1.05×", "1×", "1.1×", "0.95×"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-7, "0.0000001"),
        (1234567.0, "1,234,567"),
        (12.3456, "12.35"),
        (-2.5, "-2.5"),
        (99999.6, "100,000"),
        (math.inf, "infinite"),
        (-math.inf, "infinite"),
        (math.nan, "not a number"),
        (10**400, "infinite"),
        (1e300, "1e300"),
        (-1.23456e-12, "-1.235e-12"),
        (5e-324, "4.941e-324"),
        (2**63 - 1, "9.223e18"),
        (999_999_999_999_999.0, "999,999,999,999,999"),
    ],
)
def test_numbers_keep_four_digits_and_are_written_short(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize("value", [math.inf, math.nan, 1e300, -1e300, 5e-324, 1e15, 9.99999e-10, 1e-9 / 3, 0.1 + 0.2])
@pytest.mark.parametrize("si", ["s", "B", "FLOP/s", "m2", ""])
def test_no_quantity_raises_or_fills_the_page(value, si):
    shown = format_quantity(value, si)
    assert len(shown.text) <= 24
    assert len(shown.exact) <= 35
    assert len(format_factor(value)) <= 24


@pytest.mark.parametrize(
    ("value", "text"), [(34.84, "34×"), (12.97, "12×"), (13.0, "13×"), (2.0, "2×"), (134.9, "134×")]
)
def test_a_lower_bound_is_never_rounded_up(value, text):
    assert format_at_least(value) == text
