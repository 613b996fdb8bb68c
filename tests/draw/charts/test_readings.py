"""Readings over time as stepped areas."""

from stackviz.draw.charts.readings import HEIGHT, MOST_STEPS, WIDTH, readings_lane


def test_each_reading_is_as_wide_as_the_next_and_more_is_higher():
    lane = readings_lane([0.0, 0.5, 1.0], 1.0)
    assert lane.areas == ("0,40 0,40 200,40 200,21 400,21 400,2 600,2 600,40",)


def test_what_was_not_read_is_a_gap():
    assert readings_lane([1.0, None, 1.0], 1.0).areas == ("0,40 0,2 200,2 200,40", "400,40 400,2 600,2 600,40")


def test_many_readings_are_the_means_of_neighbours():
    (area,) = readings_lane([0.0, 1.0] * MOST_STEPS, 1.0).areas
    assert len(area.split()) == 2 * MOST_STEPS + 2
    assert area.split()[1] == f"0,{(HEIGHT + 2) // 2}"


def test_nothing_above_the_top_and_nothing_without_values():
    assert readings_lane([300.0], 250.0).areas == (f"0,{HEIGHT} 0,2 {WIDTH},2 {WIDTH},{HEIGHT}",)
    assert readings_lane([None, None], 1.0) is readings_lane([], 1.0) is None
