"""Scales put figures in per cent of a drawing; ticks are round and do not touch."""

from itertools import pairwise

import pytest

from stackviz.draw.charts.scale import Scale, bar_scale, round_step, scale_for, spans_decades


def test_a_linear_scale_begins_at_zero_and_ends_at_the_largest():
    scale = scale_for([10, 40], "linear")
    assert [scale.percent(value) for value in (0, 10, 40, 99, -5)] == [0, 25, 100, 100, 0]


def test_a_decade_is_as_wide_anywhere_on_a_logarithmic_scale():
    scale = scale_for([1, 10_000], "log")
    assert [round(scale.percent(value)) for value in (1, 10, 100, 10_000)] == [0, 25, 50, 100]


@pytest.mark.parametrize("values", [[], [0, 0], [0], [7], [5, 5]])
@pytest.mark.parametrize("kind", ["log", "linear"])
def test_few_or_equal_figures_make_a_scale_too(values, kind):
    scale = scale_for(values, kind, margin=0.04)
    assert scale.low < scale.high
    assert all(0 <= scale.percent(value) <= 100 for value in values)
    assert scale.ticks()


def test_zero_stands_at_the_low_end_of_a_logarithmic_scale():
    assert scale_for([0, 1, 10], "log").percent(0) == 0


def test_a_bar_on_a_logarithmic_scale_begins_at_a_power_of_ten():
    assert bar_scale([26, 8000], "log").low == 10


@pytest.mark.parametrize("scale", [Scale("log", 3, 20_000), Scale("log", 150, 9000), Scale("linear", 0, 8130)])
@pytest.mark.parametrize("apart", [5, 14, 30])
def test_ticks_lie_inside_and_keep_apart(scale, apart):
    places = [scale.percent(tick) for tick in scale.ticks(apart)]
    assert all(scale.low * 0.999 <= tick <= scale.high * 1.001 for tick in scale.ticks(apart))
    assert all(after - before >= apart for before, after in pairwise(places))


def test_steps_are_one_two_or_five_times_a_power_of_ten():
    assert [round_step(least) for least in (0.9, 1, 1.1, 3, 7, 230)] == [1, 1, 2, 5, 10, 500]


def test_decades_are_spanned_beyond_the_ratio():
    assert spans_decades([1, 101])
    assert not spans_decades([1, 99])
    assert spans_decades([1, 25], ratio=20)
    assert not spans_decades([])
    assert not spans_decades([0, 5])
