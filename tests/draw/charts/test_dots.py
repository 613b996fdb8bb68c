"""Rows of dots as a Plotly figure."""

from stackviz.draw.charts.dots import RailDot, rail_figure
from stackviz.draw.charts.frame import NARROW_PX
from stackviz.draw.colours import GREY, Hue


def test_rows_stand_from_top_to_bottom_and_dots_on_them():
    dots = [
        RailDot(row=0, value=80.0, hue=Hue("apple")),
        RailDot(row=1, value=70.5, hue=GREY, is_filled=True, note="a < b"),
    ]
    figure = rail_figure("share, %", ["First", "Second"], dots, "nothing")
    (trace,) = figure["data"]
    assert (trace["x"], trace["y"]) == ([80.0, 70.5], [0, 1])
    assert trace["marker"]["symbol"] == ["circle-open", "circle"]
    assert trace["meta"]["colours"] == ["v-apple", "v-other"]
    assert trace["customdata"][1] == ["Second", "a &lt; b", ""]
    assert figure["layout"]["yaxis"]["ticktext"] == ["First ", "Second "]
    assert figure["layout"]["yaxis"]["range"] == [1.5, -0.5]
    assert figure["layout"]["xaxis"]["side"] == "top"
    assert "shapes" not in figure["layout"]


def test_a_bound_is_a_line_across_all_rows():
    layout = rail_figure("share, %", ["First"], [RailDot(row=0, value=80.0, hue=Hue("apple"))], "nothing", bound=100)[
        "layout"
    ]
    (line,) = layout["shapes"]
    assert (line["x0"], line["x1"], line["y0"], line["y1"], line["yref"]) == (100, 100, 0, 1, "paper")


def test_on_a_phone_names_are_above_their_rows():
    figure = rail_figure(
        "share, %", ["First", "Second"], [RailDot(row=0, value=80.0, hue=Hue("apple"))], "nothing", bound=100
    )
    (narrow,) = figure["narrower"]
    assert narrow["up_to"] == NARROW_PX
    assert [(note["text"], note["y"]) for note in narrow["layout"]["annotations"]] == [("First", 0), ("Second", 1)]
    assert narrow["layout"]["yaxis"]["showticklabels"] is False
    assert narrow["layout"]["xaxis"]["range"] == [0, 104.0]
    assert narrow["layout"]["xaxis"]["tickvals"][::5] == [0.0, 100.0]
    assert narrow["layout"]["height"] > figure["layout"]["height"]


def test_without_dots_the_figure_says_so():
    assert rail_figure("share", [], [], "nothing")["layout"]["annotations"][0]["text"] == "nothing"
