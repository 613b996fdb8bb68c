"""A ladder ranks; published and measured share a scale, never a bar."""

import itertools

from stackviz.draw.charts.ladder import TICKS_APART, Rung, rank_rungs


def test_the_best_stands_first_and_equals_share_a_place():
    steps, _marks = rank_rungs([Rung(1, 5), Rung(2, 9), Rung(3, 9), Rung(4, 1)], "linear")
    assert [(step.key, step.rank) for step in steps] == [(2, 1), (3, 1), (1, 3), (4, 4)]
    lowest_first, _marks = rank_rungs([Rung(1, 5), Rung(2, 9)], "linear", lower_is_better=True)
    assert [step.key for step in lowest_first] == [1, 2]


def test_measured_figure_above_peak_widens_scale():
    steps, _marks = rank_rungs([Rung(1, 50, 100.0), Rung(2, 25)], "linear")
    assert [(step.length, step.measured_length) for step in steps] == [(50.0, 100.0), (25.0, None)]


def test_ticks_keep_apart():
    _steps, marks = rank_rungs([Rung(1, 25.6), Rung(2, 8000)], "log")
    places = [mark.at for mark in marks]
    assert len(places) > 1
    assert all(after - before >= TICKS_APART for before, after in itertools.pairwise(places))


def test_nothing_ranked_is_an_empty_ladder():
    assert rank_rungs([], "log") == ([], [])


def test_what_takes_no_place_leaves_the_places_of_the_others():
    steps, _marks = rank_rungs([Rung(1, 9, takes_place=False), Rung(2, 5), Rung(3, 5), Rung(4, 1)], "linear")
    assert [(step.key, step.rank) for step in steps] == [(1, None), (2, 1), (3, 1), (4, 3)]
