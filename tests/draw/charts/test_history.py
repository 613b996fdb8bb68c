"""History lines: checked against plotly's own validators."""

from datetime import UTC, datetime, timedelta

import plotly.graph_objects as go

from stackviz.draw.charts.history import HistoryLevel, HistoryLine, HistoryMark, HistoryPoint, history_figure
from stackviz.draw.colours import Hue

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def line_of(*values, name="m"):
    """A line of these values, all of one day."""
    return [HistoryLine(name, [HistoryPoint(DAY, value) for value in values])]


def test_history_chart_labels_its_last_point():
    points = [HistoryPoint(DAY, 10, 9, 11), HistoryPoint(DAY + timedelta(days=1), 12, 11, 13)]
    figure = history_figure(
        "gemm bf16", "TFLOP/s", [HistoryLine("H100", points), HistoryLine("B200", points, hue=Hue("amd"))]
    )
    go.Figure(figure)
    assert figure["data"][0]["text"] == ["", "H100"]
    assert figure["data"][0]["x"][0] == "2026-11-01T00:00:00+00:00"


def test_a_failed_run_breaks_the_line_and_is_not_zero():
    figure = history_figure("gemm", "s", line_of(1.0, None, 1.1))
    go.Figure(figure)
    (line,) = figure["data"]
    assert (line["y"], line["connectgaps"]) == ([1.0, None, 1.1], False)
    assert line["text"] == ["", "", ""]  # one line alone needs no name on it
    empty = history_figure("gemm", "s", line_of(None), empty="not measured yet")
    go.Figure(empty)
    assert (empty["data"], empty["layout"]["annotations"][0]["text"]) == ([], "not measured yet")


def test_series_decades_apart_share_a_log_axis():
    lines = [
        HistoryLine("cpu", [HistoryPoint(DAY, 5)]),
        HistoryLine("gpu", [HistoryPoint(DAY, 900_000)], hue=Hue("amd")),
    ]
    assert history_figure("gemm", "GFLOP/s", lines)["layout"]["yaxis"]["type"] == "log"


def test_a_line_that_hardly_moves_looks_calm():
    low, high = history_figure("gemm", "s", [HistoryLine("m", [HistoryPoint(DAY, 1.000), HistoryPoint(DAY, 1.001)])])[
        "layout"
    ]["yaxis"]["range"]
    assert high - low >= 0.2


def test_levels_and_marks_are_drawn_with_their_labels():
    days = [DAY + timedelta(days=day) for day in range(10)]
    line = HistoryLine("m", [HistoryPoint(at, 10.0 if day < 4 else 9.0) for day, at in enumerate(days)])
    levels = [HistoryLevel(days[0], days[3], 10.0), HistoryLevel(days[4], days[9], 9.0, "10 % slower")]
    marks = [HistoryMark(days[4], "driver <1> to 2")]
    figure = history_figure("gemm", "s", [line], marks=marks, levels=levels)
    go.Figure(figure)
    across, _line, level, label = figure["data"]
    low, high = figure["layout"]["yaxis"]["range"]
    assert across["y"] == [low, high, None]
    assert across["text"][0] == "driver &lt;1&gt; to 2"
    assert level["y"] == [10.0, 10.0, None, 9.0, 9.0, None]
    assert (label["text"], label["y"], label["textposition"]) == (["10 % slower"], [high], ["bottom right"])


def test_a_late_label_stands_left_of_its_place():
    days = [DAY + timedelta(days=day) for day in range(10)]
    line = HistoryLine("m", [HistoryPoint(at, 10.0) for at in days])
    levels = [HistoryLevel(days[0], days[7], 10.0), HistoryLevel(days[8], days[9], 9.0, "10 % slower")]
    assert history_figure("gemm", "s", [line], levels=levels)["data"][-1]["textposition"] == ["bottom left"]
