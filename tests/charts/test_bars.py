"""Bar charts: checked against plotly's own validators, and against what a reader would expect to see."""

import json

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackviz.charts.bars import Bar, meter, ranked_bars


def labels(figure):
    return [text.strip() for text in figure["layout"]["yaxis"]["ticktext"]]


def test_shortest_time_is_the_top_bar():
    figure = ranked_bars("GEMM", "s", [Bar(label="fast", value=1.0), Bar(label="slow", value=2.0)], better="lower")
    assert labels(figure)[-1] == "fast"


def test_highest_rate_is_the_top_bar():
    figure = ranked_bars("GEMM", "TFLOP/s", [Bar(label="slow", value=14.1), Bar(label="fast", value=989.0)])
    assert labels(figure)[-1] == "fast"


def test_bars_are_a_valid_plotly_figure_with_intervals():
    figure = ranked_bars(
        "GEMM", "TFLOP/s", [Bar(label="a", value=10, low=9, high=12), Bar(label="b", value=20, slot=1)]
    )
    go.Figure(figure)
    assert figure["data"][0]["error_x"]["array"] == [2, 0]
    assert figure["data"][0]["error_x"]["arrayminus"] == [1, 0]
    assert figure["data"][0]["meta"]["colours"] == ["s1", "s2"]


def test_bars_of_one_name_stay_two_bars():
    figure = ranked_bars("GEMM", "s", [Bar(label="H100", value=1.0), Bar(label="H100", value=2.0)])
    assert len(set(figure["data"][0]["y"])) == 2


def test_figures_that_span_decades_are_dots_on_a_log_axis():
    figure = ranked_bars("GEMM", "GFLOP/s", [Bar(label="cpu", value=5), Bar(label="gpu", value=900_000)])
    go.Figure(figure)
    assert (figure["data"][0]["type"], figure["layout"]["xaxis"]["type"]) == ("scatter", "log")


def test_bars_start_at_zero():
    assert (
        ranked_bars("GEMM", "s", [Bar(label="a", value=90), Bar(label="b", value=100)])["layout"]["xaxis"]["rangemode"]
        == "tozero"
    )


def test_no_bars_gives_a_figure_that_says_so():
    figure = ranked_bars("GEMM", "s", [], empty="not measured yet")
    go.Figure(figure)
    assert figure["layout"]["annotations"][0]["text"] == "not measured yet"


def test_a_hostile_name_is_text_not_a_link():
    figure = ranked_bars("x", "s", [Bar(label='<a href="https://evil">H100</a>', value=1.0, note="<b>")])
    assert "<a" not in json.dumps(figure)


@given(st.lists(st.floats(0, 1e18, allow_nan=False), max_size=12))
def test_any_figures_make_a_figure_that_is_json(values):
    figure = ranked_bars("any", "s", [Bar(label=str(at), value=value) for at, value in enumerate(values)])
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "scale", "expected"),
    [(79, 100, ("79", False)), (110, 100, ("100", True)), (0, 100, ("0", False)), (5, 0, ("0", False))],
)
def test_a_bar_is_as_long_as_its_share_and_flags_what_exceeds_it(value, scale, expected):
    drawn = meter(value, scale)
    assert (drawn.p, drawn.is_over) == expected


def test_an_interval_needs_both_ends():
    assert (meter(50, 100, 40, 60).lo, meter(50, 100, 40, 60).hi, meter(50, 100, 40).lo) == ("40", "60", "")
