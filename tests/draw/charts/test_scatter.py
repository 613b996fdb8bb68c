"""Where points, lines and names go; names cover neither each other nor a point."""

import itertools
import math
from dataclasses import replace

import pytest

from stackviz.draw.charts.frame import MIDDLE_PX, NARROW_PX
from stackviz.draw.charts.labels import HEIGHT_PX, LETTER_PX, LINE_PX, WIDE_PX, outstanding
from stackviz.draw.charts.scatter import (
    MIDDLE_SIZE,
    SIZES,
    Dot,
    Iso,
    Ways,
    iso_ratios,
    place_scatter,
    size_steps,
)
from stackviz.draw.charts.scatter_plotly import AxisWords, plotly_axis, scatter_figure
from stackviz.draw.colours import VENDORS, hue_of

CLOUD = [
    Dot(
        key=n, label=f"accelerator {n}", x=2.0 ** (n % 9), y=3.0 ** (n % 7), size=n + 1.0, hue=hue_of([*VENDORS][n % 6])
    )
    for n in range(60)
]

# More of x brings more of y, up to a point.
TRADE = [
    Dot(
        key=n,
        label=f"card {n}",
        x=1.0 + n % 9,
        y=(1.0 + n % 9) * (1 + n % 4),
        size=n + 1.0,
        hue=hue_of([*VENDORS][n % 6]),
    )
    for n in range(36)
]


def boxes_of(drawn):
    for label in drawn.labels:
        x, y = label.x * WIDE_PX / 100 + label.dx, label.y * HEIGHT_PX / 100 + label.dy
        length = len(label.text) * LETTER_PX
        left = x - {"start": 0, "middle": length / 2, "end": length}[label.anchor]
        yield left, y + 3 - LINE_PX, left + length, y + 3


def test_no_name_covers_another_or_leaves_the_drawing():
    boxes = list(boxes_of(place_scatter(CLOUD, "log", "log")))
    assert len(boxes) > 5
    for one, other in itertools.combinations(boxes, 2):
        assert not (one[0] < other[2] - 1 and other[0] < one[2] - 1 and one[1] < other[3] - 1 and other[1] < one[3] - 1)
    assert all(box[0] >= -1 and box[2] <= WIDE_PX + 1 and box[1] >= -1 and box[3] <= HEIGHT_PX + 1 for box in boxes)


def test_what_lies_on_one_spot_has_one_name():
    points = (("first", 5, 5), ("twin", 5.01, 5), ("far", 50, 50))
    dots = [Dot(key=key, label=label, x=x, y=y) for key, (label, x, y) in enumerate(points)]
    assert {label.text for label in place_scatter(dots, "linear", "linear").labels} == {"first", "far"}


def test_the_upper_left_edge_stands_out_before_the_rest():
    # per cent from the upper left: key 1 lies left and high, 2 inside the cloud, 3 at the very top
    assert outstanding([(1, 10, 40), (2, 50, 60), (3, 60, 5)])[-1] == 2


@pytest.mark.parametrize(
    ("kind", "points", "is_inverse"),
    [("log", [(1, 2), (10, 20), (100, 5)], False), ("linear", [(20, 10), (2, 1)], True)],
)
def test_equal_ratio_line_passes_its_points(kind, points, is_inverse):
    dots = [Dot(key=n, label=str(n), x=x, y=y) for n, (x, y) in enumerate(points)]
    drawn = place_scatter(dots, kind, kind, [Iso(2.0, "2", is_inverse=is_inverse)])
    (line,) = drawn.lines
    x1, y1, x2, y2 = (float(value) for value in (line.x1, line.y1, line.x2, line.y2))
    for spot in drawn.spots[:2]:
        assert y1 + (y2 - y1) * (spot.x - x1) / (x2 - x1) == pytest.approx(spot.y, abs=0.3)
    assert place_scatter(dots, "log", "log", [Iso(1e9, "beyond the drawing")]).lines == ()


def test_ratios_are_round_and_few():
    assert iso_ratios([8, 20, 60, 95, 300]) == [10, 20, 50, 100, 200]
    assert len(iso_ratios([1e-3, 1e6])) <= 12
    assert iso_ratios([]) == iso_ratios([0, 0]) == []
    assert iso_ratios([155.0])


def test_unknown_size_is_drawn_medium():
    assert size_steps([None, 10, 1000]) == [MIDDLE_SIZE, 0, len(SIZES) - 1]
    assert size_steps([None, 10]) == [MIDDLE_SIZE, MIDDLE_SIZE]
    assert size_steps([0, 1, 10]) == [0, 0, len(SIZES) - 1]


def test_shapes_are_of_kinds_and_colours_of_vendors():
    figure = scatter_figure(AxisWords("x", "log"), AxisWords("y", "linear"), CLOUD, {0: "/accelerators/a/"})
    marker = figure["data"][0]["marker"]
    assert (set(marker["symbol"]), len(set(marker["color"]))) == ({"square"}, 6)
    cited = [Dot(key=1, label="a", x=1, y=1, is_hollow=True)]
    ring = scatter_figure(AxisWords("x", "log"), AxisWords("y", "linear"), cited, {})["data"][0]["marker"]
    assert ring["symbol"] == ["circle-open"]
    assert (figure["layout"]["xaxis"]["type"], figure["layout"]["yaxis"]["type"]) == ("log", "linear")
    assert (figure["layout"]["xaxis"]["tickformat"], figure["layout"]["yaxis"]["tickformat"]) == (",~r", ",")


def test_names_are_text_in_the_figure_and_an_empty_one_says_so():
    dots = [Dot(key=1, label="<b>bold</b>", x=1, y=1, note="<a href=x>")]
    data = scatter_figure(AxisWords("<i>", "log"), AxisWords("y", "log"), dots, {})["data"][0]["customdata"][0]
    assert data[:2] == ["&lt;b&gt;bold&lt;/b&gt;", "&lt;a href=x&gt;"]
    assert place_scatter([], "log", "log").spots == ()
    empty = scatter_figure(AxisWords("x", "log"), AxisWords("y", "log"), [], {}, empty="nothing here")
    assert empty["layout"]["annotations"][0]["text"] == "nothing here"


def test_a_figure_of_each_width_names_what_the_still_one_names():
    figure = scatter_figure(AxisWords("x", "log"), AxisWords("y", "log"), CLOUD, {}, isos=[Iso(3.0, "equal")])
    labels = place_scatter(CLOUD, "log", "log", [Iso(3.0, "equal")]).labels
    assert {label.only for label in labels} == {"", "middle", "wide"}
    narrow, middle = figure["narrower"]
    assert (narrow["up_to"], middle["up_to"]) == (NARROW_PX, MIDDLE_PX)
    of_all = {"", "middle", "wide"}
    for trace, widths in (
        (narrow["data"]["1"], {""}), (middle["data"]["1"], {"", "middle"}), (figure["data"][1], of_all),
    ):  # fmt: skip
        assert {name for name in trace["text"] if name} == {label.text for label in labels if label.only in widths}
    assert narrow["data"]["0"]["text"] == ["", ""]  # names of lines lie over dots there
    assert "0" not in middle["data"]


@pytest.mark.parametrize("kind", ["log", "linear"])
def test_a_bound_is_in_sight_above_every_dot(kind):
    dots = [Dot(key=1, label="slow", x=10, y=5), Dot(key=2, label="fast", x=100, y=20)]
    drawn = place_scatter(dots, "log", kind, [Iso(2.0, "bound", is_bound=True)])
    assert drawn.lines[0].x2 > drawn.spots[1].x
    axes = AxisWords("x", "log"), AxisWords("y", kind)
    layout = scatter_figure(*axes, dots, {}, isos=[Iso(2.0, "bound", is_bound=True)])["layout"]
    assert layout["yaxis"]["range"][1] > (math.log10(200) if kind == "log" else 200)
    equal = place_scatter(dots, "log", kind, [Iso(2.0, "equal")])
    assert equal.lines[0].x2 < equal.spots[1].x


def test_dots_that_readers_look_for_are_named_before_outliers():
    def names(first=None):
        dots = [replace(dot, priority=0 if dot.key == first else None) for dot in crowd]
        return {label.key for label in place_scatter(dots, "log", "log").labels}

    crowd = [Dot(key=n, label=f"accelerator {n}", x=1.5 ** (n % 23), y=2.0 ** (n % 17)) for n in range(200)]
    unnamed = [dot.key for dot in crowd if dot.key not in names()][:12]
    now = [key for key in unnamed if key in names(first=key)]
    assert len(unnamed) == 12
    assert len(now) > len(unnamed) / 2


def test_dots_of_one_value_step_aside_and_stay_near():
    column = [Dot(key=n, label=str(n), x=16.0, y=100.0 + n) for n in range(5)]
    ends = [Dot(key=8, label="8", x=1.0, y=1.0), Dot(key=9, label="9", x=1000.0, y=1000.0)]
    spots = place_scatter([*column, *ends], "log", "log").spots
    lefts = [spot.x for spot in spots[:5]]
    assert len(set(lefts)) == 5
    assert max(lefts) - min(lefts) < 5
    assert lefts[0] == pytest.approx(float(place_scatter([column[0], *ends], "log", "log").spots[0].x))


def test_labels_keep_clear_of_the_front():
    drawn = place_scatter(TRADE, "log", "log", ways=Ways(more_x=False, more_y=True))
    assert len(drawn.front) > 3
    assert drawn.labels
    assert drawn.pieces
    for label, (left, top, right, bottom) in zip(drawn.labels, boxes_of(drawn), strict=True):
        for start_x, start_y, end_x, end_y in drawn.pieces:
            x1, x2 = sorted(x * WIDE_PX / 100 for x in (start_x, end_x))
            y1, y2 = sorted(y * HEIGHT_PX / 100 for y in (start_y, end_y))
            assert x2 <= left or x1 >= right or y2 <= top or y1 >= bottom, label.text


def test_bounds_and_front_are_lines_of_the_figure():
    axes = AxisWords("x", "log"), AxisWords("y", "log")
    figure = scatter_figure(*axes, CLOUD, {}, isos=[Iso(2.0, "bound", is_bound=True), Iso(3.0, "equal")])
    bound, equal, dots = figure["data"]
    assert [y / x for x, y in zip(bound["x"], bound["y"], strict=True)] == [2.0, 2.0]
    assert [y / x for x, y in zip(equal["x"], equal["y"], strict=True)] == pytest.approx([3.0, 3.0])
    assert (bound["text"], equal["text"], equal["line"]["dash"]) == (["", "bound"], ["", "equal"], "dot")
    assert dots["mode"] == "markers+text"
    front, _dots = scatter_figure(*axes, TRADE, {}, ways=Ways(more_x=False, more_y=True))["data"]
    best = max(dot.y for dot in TRADE)
    assert front["y"][-1] == best


def test_years_are_whole_and_have_no_comma():
    dots = [Dot(key=n, label=str(n), x=2016.4 + n, y=n + 1.0) for n in range(9)]
    labels = [mark.label for mark in place_scatter(dots, "year", "log").x_marks]
    assert labels == sorted(labels)
    assert all(len(label) == 4 and label.isdigit() for label in labels)
    assert (labels[0], labels[-1]) == ("2016", "2024")
    assert "tickformat" not in plotly_axis(AxisWords("released", "year"), [2014.5, 2026.1])


@pytest.mark.parametrize(("decades", "ticks"), [(0.5, 4), (1.3, 4), (2.7, 4), (3.2, 5), (4.3, 6)])
def test_a_logarithmic_axis_has_few_marks_in_a_decade(decades, ticks):
    axis = plotly_axis(AxisWords("x", "log"), [1.0, 10**decades])
    assert axis["nticks"] == ticks
    apart = decades / ticks  # Plotly: above 0.7 every power, above 0.3 also 2 and 5, below all of 1 to 9
    assert decades < 1 or apart > 0.3
    assert apart <= 1
