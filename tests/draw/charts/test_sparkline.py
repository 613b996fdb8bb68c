"""Small lines for lists."""

from datetime import UTC, datetime, timedelta

from stackviz.draw.charts.history import HistoryLevel, HistoryMark, HistoryPoint
from stackviz.draw.charts.sparkline import HEIGHT, WIDTH, sparkline

DAYS = [datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=day) for day in range(5)]


def test_the_line_fills_its_box_and_higher_values_are_higher():
    line = sparkline([HistoryPoint(at, value) for at, value in zip(DAYS, (10.0, 12.0, 14.0), strict=False)])
    assert line.lines == (f"4,{HEIGHT - 4} {WIDTH // 2},{HEIGHT // 2} {WIDTH - 4},4",)


def test_a_failed_run_breaks_the_line():
    values = (10.0, 11.0, None, 10.0, 11.0)
    line = sparkline([HistoryPoint(at, value) for at, value in zip(DAYS, values, strict=True)])
    assert len(line.lines) == 2


def test_equal_values_are_a_line_in_the_middle():
    line = sparkline([HistoryPoint(at, 3.0) for at in DAYS[:2]])
    assert line.lines == (f"4,{HEIGHT // 2} {WIDTH - 4},{HEIGHT // 2}",)


def test_levels_and_marks_stand_where_they_happened():
    points = [HistoryPoint(at, value) for at, value in zip(DAYS, (10.0, 10.0, 12.0, 12.0, 12.0), strict=True)]
    line = sparkline(points, [HistoryLevel(DAYS[0], DAYS[1], 10.0)], [HistoryMark(DAYS[2], "driver")])
    assert line.levels == (f"4,{HEIGHT - 4} 82,{HEIGHT - 4}",)
    assert line.marks == (WIDTH // 2,)


def test_one_result_is_no_line():
    assert sparkline([HistoryPoint(DAYS[0], 1.0), HistoryPoint(DAYS[1], None)]) is None
