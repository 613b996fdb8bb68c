"""The heat map as a Plotly figure: every cell at its place, colours by halvings."""

import pytest

from stackviz.draw.charts.heat import LEVELS, HeatSpot, heat_figure


def spot(row, column, share, text="1", note="bench: 187.7 token/s"):
    return HeatSpot(row=row, column=column, share=share, text=text, note=note, url="/benchmarks/x/")


def test_cells_stand_in_their_row_and_column_and_gaps_stay_empty():
    figure = heat_figure(["A", "B"], ["one", "two"], [spot(0, 1, 1.0, "100"), spot(1, 0, 0.25, "25")], "nothing")
    (trace,) = figure["data"]
    assert trace["z"] == [[None, 0.0], [-2.0, None]]
    assert trace["text"] == [["", "100"], ["25", ""]]
    assert trace["customdata"][1][0] == ["B", "bench: 187.7 token/s", "/benchmarks/x/"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["A ", "B "]
    assert figure["layout"]["yaxis"]["range"] == [1.5, -0.5]


def test_the_faintest_colour_is_that_of_the_last_step():
    (trace,) = heat_figure(["A"], ["one", "two"], [spot(0, 0, 1e-9), spot(0, 1, 0.0)], "nothing")["data"]
    assert trace["z"] == [[-LEVELS, -LEVELS]]
    assert trace["zmin"] == -LEVELS
    assert trace["zmax"] > 0


def test_names_are_text_and_long_ones_are_cut():
    figure = heat_figure(["<b>A</b>"], ["x" * 60], [spot(0, 0, 1.0, note="<i>")], "nothing")
    assert figure["layout"]["yaxis"]["ticktext"] == ["&lt;b&gt;A&lt;/b&gt; "]
    assert figure["layout"]["xaxis"]["ticktext"] == ["x" * 27 + "…"]
    assert figure["data"][0]["customdata"][0][0][:2] == ["&lt;b&gt;A&lt;/b&gt;", "&lt;i&gt;"]


def test_without_cells_the_figure_says_so():
    assert heat_figure([], ["one"], [], "nothing")["layout"]["annotations"][0]["text"] == "nothing"


@pytest.mark.parametrize(("columns", "parts"), [(12, 0), (13, 1)])
def test_many_columns_in_a_narrow_drawing_have_no_text(columns, parts):
    names = [f"benchmark {number}" for number in range(columns)]
    spot = HeatSpot(row=0, column=0, share=1.0, text="100", note="")
    figure = heat_figure(["first"], names, [spot], "none")
    assert figure["data"][0]["texttemplate"] == "%{text}"
    assert [part["data"]["0"] for part in figure["narrower"]] == [{"texttemplate": ""}] * parts
