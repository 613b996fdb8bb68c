"""The front has exactly the points that nothing dominates, whatever the points are."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from stackviz.draw.charts.scatter import front_line, pareto_front

NUMBERS = st.one_of(st.integers(0, 4).map(float), st.floats(1e-3, 1e9))
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40)
WAYS = tuple(product((True, False), repeat=2))


def dominates(point, other, more_x, more_y):
    """At least as good in both directions, better in one."""
    (x, y), (x2, y2) = point, other
    x_good, y_good = (x >= x2 if more_x else x <= x2), (y >= y2 if more_y else y <= y2)
    return x_good and y_good and point != other


@given(POINTS, st.sampled_from(WAYS))
def test_nothing_dominates_the_front_and_it_every_other_point(points, ways):
    more_x, more_y = ways
    front = set(pareto_front(points, more_x=more_x, more_y=more_y))
    for index, point in enumerate(points):
        is_dominated = any(dominates(other, point, more_x, more_y) for other in points)
        assert is_dominated == (index not in front)


@given(POINTS, st.sampled_from(WAYS))
def test_some_point_of_the_front_dominates_each_that_is_off_it(points, ways):
    more_x, more_y = ways
    front = pareto_front(points, more_x=more_x, more_y=more_y)
    for index, point in enumerate(points):
        if index not in front:
            assert any(dominates(points[on_front], point, more_x, more_y) for on_front in front)


@given(POINTS, st.sampled_from(WAYS))
def test_no_point_lies_beyond_the_line_of_the_front(points, ways):
    more_x, more_y = ways
    front = [points[index] for index in pareto_front(points, more_x=more_x, more_y=more_y)]
    line = front_line(front, more_x=more_x)
    assert [start for start, _end in line[1:]] == [end for _start, end in line[:-1]]
    corners = [end for number, (_start, end) in enumerate(line) if number % 2 == 0]
    for corner in corners:  # nothing is strictly better than a corner in both directions
        assert not any(
            (x > corner[0] if more_x else x < corner[0]) and (y > corner[1] if more_y else y < corner[1])
            for x, y in points
        )


def test_cheap_and_fast():
    points = [(100.0, 5.0), (50.0, 3.0), (80.0, 2.0), (50.0, 1.0), (20.0, 3.0)]
    assert pareto_front(points, more_x=False, more_y=True) == [4, 0]
    assert front_line([(20.0, 3.0), (100.0, 5.0)], more_x=False) == [
        ((20.0, 3.0), (100.0, 3.0)),
        ((100.0, 3.0), (100.0, 5.0)),
    ]


def test_no_points_have_no_front():
    assert pareto_front([], more_x=True, more_y=True) == []
    assert front_line([], more_x=True) == []
