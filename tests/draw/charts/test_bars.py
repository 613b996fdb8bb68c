"""Bars in a table: as long as their share, with an interval where both ends are known."""

import pytest

from stackviz.draw.charts.bars import meter


@pytest.mark.parametrize(
    ("value", "scale", "expected"),
    [(79, 100, ("79", False)), (110, 100, ("100", True)), (0, 100, ("0", False)), (5, 0, ("0", False))],
)
def test_a_bar_is_as_long_as_its_share_and_flags_what_exceeds_it(value, scale, expected):
    drawn = meter(value, scale)
    assert (drawn.p, drawn.is_over) == expected


def test_an_interval_that_ends_at_the_value_is_written_once():
    assert meter(50, 100, 49.99, 50.01).style == "--all:50"
    assert meter(50, 100, 40, 60).style == "--p:50;--lo:40;--hi:60"
    assert meter(50, 100).style == "--p:50"


def test_an_interval_needs_both_ends():
    assert (meter(50, 100, 40, 60).lo, meter(50, 100, 40, 60).hi, meter(50, 100, 40).lo) == ("40", "60", "")
