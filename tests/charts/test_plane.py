"""Lines and points placed for SVG and for Plotly: one geometry."""

from itertools import pairwise

import pytest

from stackviz.charts.plane import LABEL_ROW, PlaneContent, PlaneLine, PlanePoint, PlaneStep, place_plane, plane_figure
from stackviz.charts.scatter_plotly import AxisWords

AXIS = AxisWords("rate <TFLOP/s>", "log")
LINE = PlaneLine(key="a", slot=0, points=((1.0, 1.0), (10.0, 10.0), (100.0, 10.0)), label="A 10", dash=1)
POINT = PlanePoint(key=7, x=10.0, y=1.0, slot=1, shape=2, label="gemm", note="<b>70 %</b>")
CONTENT = PlaneContent(lines=(LINE,), points=(POINT,))


def test_positions_grow_to_the_right_and_upwards():
    plane = place_plane(CONTENT)
    first, ridge, last = (tuple(map(float, pair.split(","))) for pair in plane.lines[0].path.split())
    assert first[0] == 0
    assert ridge[0] == pytest.approx(50)
    assert last[0] == 100
    assert first[1] > ridge[1] == last[1]
    assert (plane.points[0].x, plane.points[0].key) == ("50.0", 7)


def test_labels_of_lines_that_end_close_together_do_not_overlap():
    lines = tuple(
        PlaneLine(key=str(number), slot=number, points=((1, height), (10, height)), label=f"roof {number}")
        for number, height in enumerate((67.0, 67.5, 82.6, 990.0))
    )
    ends = [float(end.y) for end in place_plane(PlaneContent(lines=lines)).ends]
    gaps = [below - above for above, below in pairwise(ends)]
    assert len(ends) == 4
    assert all(gap >= LABEL_ROW - 0.11 for gap in gaps)


def test_nothing_to_draw_is_an_empty_plane():
    assert place_plane(PlaneContent()).lines == ()
    assert plane_figure(PlaneContent(), AXIS, AXIS, {}, "none")["layout"]["annotations"][0]["text"] == "none"


def test_plotly_has_the_same_lines_and_points():
    line, points = plane_figure(CONTENT, AXIS, AXIS, {7: "/benchmarks/gemm/x/"}, "none")["data"]
    assert list(zip(line["x"], line["y"], strict=True)) == list(LINE.points)
    assert (line["line"]["dash"], line["meta"]["colours"]) == ("dash", "s1")
    assert line["text"] == ["", "", "A 10"]
    assert (points["x"], points["y"]) == ([10.0], [1.0])
    assert points["customdata"] == [["gemm", "&lt;b&gt;70 %&lt;/b&gt;", "/benchmarks/gemm/x/"]]
    assert points["marker"]["symbol"] == ["triangle-up-open"]


def test_filled_points_are_filled_in_both_drawings():
    content = PlaneContent(points=(PlanePoint(key=1, x=1, y=1, slot=0, is_filled=True),))
    assert place_plane(content).points[0].is_filled
    assert plane_figure(content, AXIS, AXIS, {}, "none")["data"][0]["marker"]["symbol"] == ["circle"]


def test_a_step_stands_at_its_place_in_both_drawings():
    content = PlaneContent(lines=(LINE,), steps=(PlaneStep(10.0, 0, "L2 cache"),))
    assert place_plane(content).steps[0].x == "50.0"
    layout = plane_figure(content, AXIS, AXIS, {}, "none")["layout"]
    assert layout["shapes"][0]["x0"] == 10.0
    assert layout["annotations"][0]["x"] == 1.0  # the exponent
