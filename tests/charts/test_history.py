"""History lines: checked against plotly's own validators."""

from datetime import UTC, datetime, timedelta

import plotly.graph_objects as go

from stackviz.charts.history import Line, Point, history

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def test_history_is_a_valid_plotly_figure_named_at_its_last_point():
    points = [Point(DAY, 10, 9, 11), Point(DAY + timedelta(days=1), 12, 11, 13)]
    figure = history("gemm bf16", "TFLOP/s", [Line("H100", points), Line("B200", points, place=1)])
    go.Figure(figure)
    assert figure["data"][0]["text"] == ["", "H100"]
    assert figure["data"][0]["x"][0] == "2026-11-01T00:00:00+00:00"


def test_a_failed_run_breaks_the_line_and_is_not_zero():
    figure = history("gemm", "s", [Line("m", [Point(DAY, 1.0), Point(DAY, None), Point(DAY, 1.1)])])
    go.Figure(figure)
    assert figure["data"][0]["y"] == [1.0, None, 1.1]
    assert figure["data"][0]["connectgaps"] is False


def test_nothing_measured_gives_a_figure_that_says_so():
    figure = history("gemm", "s", [Line("m", [Point(DAY, None)])], empty="not measured yet")
    go.Figure(figure)
    assert (figure["data"], figure["layout"]["annotations"][0]["text"]) == ([], "not measured yet")


def test_series_decades_apart_share_a_log_axis():
    lines = [Line("cpu", [Point(DAY, 5)]), Line("gpu", [Point(DAY, 900_000)], place=1)]
    assert history("gemm", "GFLOP/s", lines)["layout"]["yaxis"]["type"] == "log"


def test_a_line_that_hardly_moves_looks_calm():
    low, high = history("gemm", "s", [Line("m", [Point(DAY, 1.000), Point(DAY, 1.001)])])["layout"]["yaxis"]["range"]
    assert high - low >= 0.2


def test_one_line_alone_needs_no_name_on_it():
    assert history("gemm", "s", [Line("m", [Point(DAY, 1.0), Point(DAY, 1.1)])])["data"][0]["text"] == ["", ""]
