"""Small multiples: panels share their scales, names do not overlap, and Plotly draws the same."""

import plotly.graph_objects as go
import pytest

from stackviz.draw.charts.panels import (
    LONGEST_NAME,
    Panel,
    PanelLine,
    PanelPoint,
    figure_height,
    panels_figure,
    place_panels,
)
from stackviz.draw.colours import GREY, Hue

NAMES = {1024.0: "1024³", 2048.0: "2048³", 16384.0: "16384³"}


def line(name: str, values: list[float], hue: Hue = GREY) -> PanelLine:
    points = (PanelPoint(x, y, y * 0.9, y * 1.1) for x, y in zip(NAMES, values, strict=False))
    return PanelLine(name, hue, tuple(points))


def panel(*lines: PanelLine, title: str = "bf16") -> Panel:
    return Panel(title, "TFLOP/s", lines)


def heights(path: str) -> list[float]:
    return [float(point.split()[1]) for point in path.removeprefix("M").split("L")]


def test_panels_share_both_scales():
    drawn = place_panels([panel(line("a", [10, 20, 100])), panel(line("b", [10, 20]), title="fp16")], NAMES)
    first, second = (heights(shown.lines[0].path) for shown in drawn.panels)
    assert first[:2] == second
    assert not drawn.is_log


def test_figures_over_decades_are_logarithmic_and_sizes_marked():
    assert place_panels([panel(line("a", [1000, 900]), line("b", [1, 2]))], NAMES).is_log
    assert [mark.label for mark in place_panels([panel(line("a", [1, 2, 3]))], NAMES).x_marks] == ["16384³", "1024³"]
    (axis, *_others), _narrow = figure_axes(panels_figure("gemm", [panel(line("a", [5, 6, 7]))], NAMES), "x")
    assert axis["ticktext"] == ["1024³", "16384³"]
    assert axis["tickangle"] == 0


def test_names_at_the_ends_do_not_overlap_and_long_ones_are_cut():
    long = "a-machine-with-a-very-long-name"
    [shown] = place_panels([panel(line("a", [5, 5]), line(long, [5, 5.01], 1))], NAMES).panels
    first, second = (float(name.y) for name in shown.names)
    assert abs(first - second) >= 10
    cut = next(name for name in shown.names if name.full == long)
    assert len(cut.text) == LONGEST_NAME
    figure = panels_figure("Matrix product", [panel(line("a", [5, 6, 7]), line("b", [5, 6, 7.01], Hue("amd")))], NAMES)
    _title, first, second = figure["layout"]["annotations"]
    assert (first["text"], second["text"]) == ("b", "a")
    assert first["yshift"] - second["yshift"] >= 12
    assert first["xref"] == "x"


def test_one_point_is_a_dot_and_no_line():
    [shown] = place_panels([panel(line("a", [5, 6]), line("b", [5], 1))], NAMES).panels
    assert [bool(drawn.path) for drawn in shown.lines] == [True, False]
    assert all(drawn.dots for drawn in shown.lines)


@pytest.mark.parametrize("count", [1, 3, 4, 12])
def test_plotly_takes_every_number_of_panels(count):
    panels = [panel(line("<b>a</b>", [5, 6, 7]), title=f"type {number}") for number in range(count)]
    figure = go.Figure(panels_figure("Matrix product", panels, NAMES))
    assert len(figure.data) == count
    assert figure.layout.height == figure_height(count)
    assert "<b>a" not in str(figure.to_dict()["data"])
    domains = {tuple(figure.layout[f"xaxis{number or ''}"].domain) for number in [0, *range(2, count + 1)]}
    assert all(0 <= low < high <= 1 for low, high in domains)


def figure_axes(figure, letter):
    """(layout of the wide figure, of the narrow one) -> their axes of this letter."""
    layouts = [figure["layout"], figure["narrower"][0]["layout"]]
    return [[axis for name, axis in layout.items() if name.startswith(f"{letter}axis")] for layout in layouts]


@pytest.mark.parametrize(("values", "kind"), [([5.0, 6.0, 7.0], "linear"), ([1.0, 20.0, 700.0], "log")])
def test_plotly_draws_all_panels_on_one_scale(values, kind):
    figure = panels_figure("Matrix product", [panel(line("a", values), title=str(n)) for n in range(4)], NAMES)
    for axes in figure_axes(figure, "y"):
        assert len(axes) == 4
        assert {axis["type"] for axis in axes} == {kind}  # Plotly matches no axes of different types
        assert len({tuple(axis["range"]) for axis in axes}) == 1
        assert all(axis["ticktext"] == axes[0]["ticktext"] for axis in axes)


def test_on_a_phone_panels_stand_below_each_other():
    figure = panels_figure("Matrix product", [panel(line("a", [5, 6, 7]), title=str(n)) for n in range(4)], NAMES)
    wide, narrow = ({tuple(axis["domain"]) for axis in axes} for axes in figure_axes(figure, "x"))
    assert (len(wide), narrow) == (3, {(0.0, 1.0)})
    assert figure["narrower"][0]["layout"]["height"] == figure_height(4, 1)
