"""Lines and points placed for SVG and for Plotly: one geometry."""

from itertools import pairwise

import pytest

from stackviz.draw.charts.labels import HEIGHT_PX, LETTER_PX
from stackviz.draw.charts.plane import (
    LABEL_ROW,
    LONGEST_NAME,
    PlaneContent,
    PlaneLine,
    PlanePoint,
    PlaneStep,
    fitting_name,
    place_plane,
    plane_figure,
)
from stackviz.draw.charts.scatter_plotly import AxisWords
from stackviz.draw.colours import GREY, Hue

AXIS = AxisWords("rate <TFLOP/s>", "log")
LINE = PlaneLine(key="a", hue=GREY, points=((1.0, 1.0), (10.0, 10.0), (100.0, 10.0)), label="A 10", dash=1)
POINT = PlanePoint(
    key=7, x=10.0, y=1.0, hue=Hue("amd"), shape=2, label="gemm", note="<b>70 %</b>", url="/benchmarks/gemm/x/"
)
CONTENT = PlaneContent(lines=(LINE,), points=(POINT,))


def test_positions_grow_to_the_right_and_upwards():
    plane = place_plane(CONTENT)
    first, ridge, last = plane.lines[0].corners
    assert first[0] == 0
    assert ridge[0] == pytest.approx(50)
    assert last[0] == 100
    assert first[1] > ridge[1] == last[1]
    assert (plane.points[0].x, plane.points[0].point) == (50.0, POINT)


def flat(height, *, low=1.0, high=10.0, label="roof"):
    return PlaneLine(key=str(height), hue=GREY, points=((low, height), (high, height)), label=label)


@pytest.mark.parametrize("heights", [(67.0, 67.5, 82.6, 990.0), (*(900.0 + number for number in range(12)), 1.0)])
def test_labels_of_lines_neither_overlap_nor_leave_the_drawing(heights):
    ends = [end.y for end in place_plane(PlaneContent(lines=tuple(map(flat, heights)))).ends]
    assert len(ends) == len(heights)
    assert ends[0] >= LABEL_ROW - 0.11  # a label is above its place
    assert all(below - above >= LABEL_ROW - 0.11 for above, below in pairwise(ends))
    assert ends[-1] <= 100


def test_labels_without_room_are_left_out_from_the_bottom():
    lines = tuple(flat(10.0 + number, label=str(number)) for number in range(60))
    names = [end.text for end in place_plane(PlaneContent(lines=lines)).ends]
    assert 25 < len(names) < 40
    assert names[0] == "59"


def test_a_name_stands_where_its_line_ends():
    short, long = flat(1.0, high=10.0), flat(5.0, high=100.0)
    assert {end.x for end in place_plane(PlaneContent(lines=(short, long))).ends} == {50.0, 100.0}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("A100 SXM4 80GB", "A100 SXM4 80GB"),
        ("V100 SXM3 32GB (DGX-2)", "V100 SXM3 32GB"),
        ("V100 SXM2 (16GB, 32GB)", "V100 SXM2"),
        ("RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000…"),
        ("AcceleratorWithoutSpaces", "AcceleratorWit…"),
        ("(unnamed)", "(unnamed)"),
    ],
)
def test_names_beside_a_drawing_are_as_long_as_there_is_room(name, shown):
    assert fitting_name(name) == shown
    assert len(shown) <= LONGEST_NAME


def test_empty_planes_and_ranges_of_axes():
    assert place_plane(PlaneContent()).lines == ()
    assert plane_figure(PlaneContent(), AXIS, AXIS, "none")["layout"]["annotations"][0]["text"] == "none"
    layout = plane_figure(CONTENT, AXIS, AXIS, "none")["layout"]
    assert layout["xaxis"]["range"][0] < 0
    assert layout["xaxis"]["range"][1] > 2
    assert layout["yaxis"]["range"][0] < 0
    assert layout["yaxis"]["range"][1] > 1


def test_plotly_has_the_same_lines_and_points():
    line, points = plane_figure(CONTENT, AXIS, AXIS, "none")["data"]
    assert list(zip(line["x"], line["y"], strict=True)) == list(LINE.points)
    assert (line["line"]["dash"], line["meta"]["colours"]) == ("dash", "v-other")
    assert (points["x"], points["y"]) == ([10.0], [1.0])
    assert points["customdata"] == [["gemm", "&lt;b&gt;70 %&lt;/b&gt;", "/benchmarks/gemm/x/"]]
    assert points["marker"]["symbol"] == ["triangle-up-open"]


def plotly_names(lines, **more):
    figure = plane_figure(PlaneContent(lines=lines), AXIS, AXIS, "none", **more)
    return figure["layout"], figure["layout"]["annotations"]


def test_plotly_writes_names_at_the_ends_of_lines():
    lines = tuple(flat(height, label=f"roof {height}") for height in (67.0, 67.5, 990.0))
    layout, names = plotly_names(lines)
    assert [name["text"] for name in names] == ["<b>roof 990.0</b>", "<b>roof 67.5</b>", "<b>roof 67.0</b>"]
    assert {name["x"] for name in names} == {1.0}  # the exponent
    low, high = layout["yaxis"]["range"]
    pixels = [(name["y"] - low) / (high - low) * HEIGHT_PX + name["yshift"] for name in names]
    assert all(above - below >= 14 for above, below in pairwise(pixels))  # none over another


def test_names_right_of_the_drawing_have_a_margin():
    lines = (PlaneLine(key="a", hue=GREY, points=((1, 1), (2, 2)), label="A100 PCIe 80GB"),)
    layout, (name,) = plotly_names(lines, has_names_outside=True)
    assert layout["margin"]["r"] > 14 * LETTER_PX
    assert (name["xanchor"], name["yanchor"]) == ("left", "middle")
    assert plotly_names(lines)[0]["margin"]["r"] == 16


def test_filled_points_are_filled_in_both_drawings():
    content = PlaneContent(points=(PlanePoint(key=1, x=1, y=1, hue=GREY, is_filled=True),))
    assert place_plane(content).points[0].point.is_filled
    marker = plane_figure(content, AXIS, AXIS, "none")["data"][0]["marker"]
    assert marker["symbol"] == ["circle"]
    assert marker["line"]["width"] == [0]  # the rim would be Plotly's own grey


def test_a_step_stands_at_its_place_in_both_drawings():
    content = PlaneContent(lines=(LINE,), steps=(PlaneStep(10.0, GREY, "L2 cache"),))
    assert place_plane(content).steps[0].x == 50.0
    layout = plane_figure(content, AXIS, AXIS, "none")["layout"]
    assert layout["shapes"][0]["x0"] == 10.0
    assert layout["annotations"][0]["x"] == 1.0  # the exponent


def test_labels_of_steps_are_apart_and_over_no_line():
    steps = tuple(PlaneStep(x, GREY, f"{x} MB") for x in (2.0, 3.0))
    content = PlaneContent(lines=(flat(100.0), flat(90.0), flat(1.0)), steps=steps)
    drawn = place_plane(content)
    first, second = (step.y for step in drawn.steps)
    heights = sorted(line.corners[-1][1] for line in drawn.lines)
    assert second - first == pytest.approx(LABEL_ROW, abs=0.11)
    assert heights[1] < first < second + LABEL_ROW < heights[2]
    names = plane_figure(content, AXIS, AXIS, "none")["layout"]["annotations"][:2]
    assert [round(100 - name["y"] * 100, 1) for name in names] == [first, second]
