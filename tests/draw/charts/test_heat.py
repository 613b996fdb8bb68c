"""Colours of the heat map: each step is half the one before."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackviz.draw.charts.heat import LEVELS, heat_level, heat_steps


@given(st.floats(1e-9, 1.0))
def test_the_legend_says_which_shares_a_level_holds(share):
    low, high = next((low, high) for level, low, high in heat_steps() if level == heat_level(share))
    assert low * (1 - 1e-9) <= share <= high * (1 + 1e-9)


def test_the_steps_are_all_levels_and_leave_no_gap():
    steps = heat_steps()
    assert [level for level, _low, _high in steps] == list(range(LEVELS, 0, -1))
    assert all(before[1] == after[2] for before, after in itertools.pairwise(steps))
    assert (steps[0][2], steps[-1][1]) == (1.0, 0.0)


@pytest.mark.parametrize(("share", "level"), [(1.0, 8), (1.5, 8), (0.51, 8), (0.5, 7), (0.25, 6), (0.0001, 1), (0, 1)])
def test_levels(share, level):
    assert heat_level(share) == level
