"""Results over time and samples as places in a drawing."""

from datetime import UTC, datetime, timedelta

from stackviz.draw.charts.history import HistoryLevel, HistoryMark, HistoryPoint
from stackviz.draw.charts.over_time import MOST_LABELS, over_time, strip_of

START = datetime(2026, 11, 1, 8, tzinfo=UTC)


def points(*values):
    return [HistoryPoint(START + timedelta(days=day), value) for day, value in enumerate(values)]


def test_the_first_result_is_on_the_left_and_the_largest_on_top():
    first, middle, last = over_time(points(500.0, 700.0, 600.0)).points
    assert first.x < middle.x < last.x
    assert middle.y < last.y < first.y


def test_a_failed_run_is_a_gap_and_not_zero():
    chart = over_time(points(5.0, 5.1, None, 5.2, 5.0))
    assert [point.index for point in chart.points] == [0, 1, 3, 4]
    assert len(chart.lines) == 2


def test_one_result_is_no_line_and_small_differences_stay_small():
    assert over_time(points(5.0)) is None
    assert over_time(points(None, 5.0)) is None
    chart = over_time(points(100.0, 101.0))
    assert abs(chart.points[0].y - chart.points[1].y) < 6


def test_results_over_decades_are_drawn_on_a_log_axis():
    chart = over_time(points(1.0, 10.0, 1000.0))
    one, ten, thousand = (point.y for point in chart.points)
    assert round((one - ten) * 2) == round(ten - thousand)


def test_the_newest_marks_have_labels_on_lines_of_their_own():
    marks = [HistoryMark(START + timedelta(days=day), f"driver {day}") for day in range(6)]
    chart = over_time(points(*[5.0] * 7), marks=marks)
    labelled = [mark for mark in chart.marks if mark.row is not None]
    assert [mark.text for mark in labelled] == ["driver 2", "driver 3", "driver 4", "driver 5"]
    assert chart.rows == MOST_LABELS == len({mark.row for mark in labelled})
    assert [mark.is_left for mark in chart.marks][0::5] == [False, True]


def test_a_level_lies_where_its_results_do():
    level = HistoryLevel(START, START + timedelta(days=2), 5.0, "−5 %")
    chart = over_time(points(5.0, 5.0, 5.0), levels=[level])
    (placed,) = chart.levels
    assert (placed.start, placed.end, placed.y) == (chart.points[0].x, chart.points[2].x, chart.points[0].y)


def test_dates_are_midnights_equally_far_apart():
    labels = [date.label for date in over_time(points(*[5.0] * 29)).dates]
    assert labels == ["2026-11-02", "2026-11-09", "2026-11-16", "2026-11-23"]


def test_results_of_one_day_are_dated_to_the_minute():
    within = [HistoryPoint(START, 5.0), HistoryPoint(START + timedelta(minutes=90), 5.0)]
    assert [date.label for date in over_time(within).dates] == ["2026-11-01 08:00", "2026-11-01 09:30"]


def test_samples_lie_in_the_order_they_were_taken():
    strip = strip_of([2.0, 1.0, 3.0], 2.0, 1.0, 3.0)
    assert [round(y) for _x, y in strip.dots] == [17, 50, 83]
    assert strip.dots[1][0] == strip.low < strip.median == strip.dots[0][0] < strip.high == strip.dots[2][0]


def test_equal_samples_or_one_alone_make_no_strip():
    assert strip_of([1.0, 1.0, 1.0], 1.0, None, None) is None
    assert strip_of([1.0], 1.0, None, None) is None
    assert strip_of([], 1.0, None, None) is None
