"""Lines and points placed for SVG and for Plotly: one geometry."""

from itertools import pairwise

import pytest

from stackviz.charts.labels import HEIGHT_PX, LETTER_PX
from stackviz.charts.plane import LABEL_ROW, PlaneContent, PlaneLine, PlanePoint, PlaneStep, place_plane
from stackviz.charts.plane_plotly import plane_figure
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
    assert (points["x"], points["y"]) == ([10.0], [1.0])
    assert points["customdata"] == [["gemm", "&lt;b&gt;70 %&lt;/b&gt;", "/benchmarks/gemm/x/"]]
    assert points["marker"]["symbol"] == ["triangle-up-open"]


def plotly_names(lines, **more):
    figure = plane_figure(PlaneContent(lines=lines), AXIS, AXIS, {}, "none", **more)
    return figure["layout"], figure["layout"]["annotations"]


def test_plotly_writes_names_at_the_ends_of_lines_and_none_over_another():
    lines = tuple(
        PlaneLine(key=str(height), slot=0, points=((1, height), (10, height)), label=f"roof {height}")
        for height in (67.0, 67.5, 990.0)
    )
    layout, names = plotly_names(lines)
    assert [name["text"] for name in names] == ["<b>roof 990.0</b>", "<b>roof 67.5</b>", "<b>roof 67.0</b>"]
    assert {name["x"] for name in names} == {1.0}  # the exponent
    low, high = layout["yaxis"]["range"]
    pixels = [(name["y"] - low) / (high - low) * HEIGHT_PX + name["yshift"] for name in names]
    assert all(above - below >= 14 for above, below in pairwise(pixels))


def test_names_right_of_the_drawing_have_a_margin_as_wide_as_the_longest():
    lines = (PlaneLine(key="a", slot=0, points=((1, 1), (2, 2)), label="A100 PCIe 80GB"),)
    layout, (name,) = plotly_names(lines, has_names_outside=True)
    assert layout["margin"]["r"] > 14 * LETTER_PX
    assert (name["xanchor"], name["yanchor"]) == ("left", "middle")
    assert plotly_names(lines)[0]["margin"]["r"] == 16


def test_every_line_and_point_is_inside_the_range_of_the_axes():
    layout = plane_figure(CONTENT, AXIS, AXIS, {}, "none")["layout"]
    assert layout["xaxis"]["range"][0] < 0
    assert layout["xaxis"]["range"][1] > 2
    assert layout["yaxis"]["range"][0] < 0
    assert layout["yaxis"]["range"][1] > 1


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
