"""Requirement links: which boxes they tie, on which lane they run, and what is written of them."""

import pytest

from stackviz.draw.diagrams.boxes import Box, BoxNote, RequirementLink, RequirementTable, StackColumn
from stackviz.draw.diagrams.drawing import BoxLine, StackDrawing
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import draw_columns

PYTORCH = Box(component="pytorch", role="framework", layer=Layer.FRAMEWORK, name="PyTorch")
CUDNN = Box(component="cudnn", role="kernels", layer=Layer.LIBRARY, name="cuDNN")
RUNTIME = Box(component="cuda-runtime", role="device-runtime", layer=Layer.PLATFORM, name="CUDA runtime")
DRIVER = Box(component="nvidia-driver", role="device-driver", layer=Layer.DRIVER, name="NVIDIA driver")
BOXES = (PYTORCH, CUDNN, RUNTIME, DRIVER)


def link(source: str, target: str, state: State = State.FITS, text: str = "it holds") -> RequirementLink:
    return RequirementLink(source, target, state, text)


def drawn(*links: RequirementLink, boxes: tuple[Box, ...] = BOXES) -> StackDrawing:
    return draw_columns([StackColumn(key="a", title="A", subtitle="", url="/a/", boxes=boxes, links=links)])


def said(drawing: StackDrawing, component: str) -> tuple[BoxLine, ...]:
    cells = (cell for layer in drawing.layers for row in layer.rows for cell in row.cells)
    return next(one.lines for cell in cells for one in cell.placed if one.box.component == component)


def test_link_connects_requirement_to_provider():
    drawing = drawn(link("pytorch", "nvidia-driver"))
    keys = {
        one.box.component: one.key
        for layer in drawing.layers
        for row in layer.rows
        for cell in row.cells
        for one in cell.placed
    }
    (only,) = drawing.links
    assert (only.top, only.bottom, only.is_up) == (keys["pytorch"], keys["nvidia-driver"], False)
    assert keys["cudnn"] == ""


def test_a_link_to_a_box_above_points_upwards():
    (only,) = drawn(link("nvidia-driver", "pytorch")).links
    assert only.is_up


@pytest.mark.parametrize(("source", "target"), [("pytorch", "nowhere"), ("nowhere", "pytorch"), ("pytorch", "pytorch")])
def test_a_link_without_two_ends_is_not_drawn(source, target):
    assert drawn(link(source, target)).links == ()


def test_the_words_of_a_link_whose_source_is_not_there_stand_at_its_target():
    assert said(drawn(link("nowhere", "cudnn", State.BROKEN, "too old")), "cudnn") == (
        BoxLine(State.BROKEN, "too old"),
    )


def test_links_that_overlap_run_on_lanes_of_their_own():
    drawing = drawn(link("pytorch", "nvidia-driver"), link("cudnn", "cuda-runtime"))
    assert sorted(one.lane for one in drawing.links) == [0, 1]
    assert drawing.lanes == (2,)


def test_links_that_hold_to_the_same_box_share_a_lane():
    drawing = drawn(link("pytorch", "nvidia-driver"), link("cudnn", "nvidia-driver"))
    assert {one.lane for one in drawing.links} == {0}


def test_broken_link_stays_visible_on_shared_lane():
    drawing = drawn(link("pytorch", "nvidia-driver"), link("cudnn", "nvidia-driver", State.BROKEN))
    assert len({one.lane for one in drawing.links}) == 2


def test_worse_verdict_on_a_pair_is_drawn():
    drawing = drawn(
        link("cudnn", "nvidia-driver", text="new enough"),
        link("cudnn", "nvidia-driver", State.WARNING, "support ended"),
    )
    assert [one.state for one in drawing.links] == [State.WARNING]
    assert [one.text for one in said(drawing, "cudnn")] == ["new enough", "support ended"]


@pytest.mark.parametrize("state", [State.FITS, State.DESCRIBED])
def test_a_link_that_a_note_tells_is_not_told_twice(state):
    noted = Box(
        component="cudnn", role="kernels", layer=Layer.LIBRARY, name="cuDNN", notes=(BoxNote(state, "it holds"),)
    )
    drawing = drawn(link("cudnn", "nvidia-driver", state), boxes=(noted, DRIVER))
    assert [one.text for one in said(drawing, "cudnn")] == ["it holds"]
    assert len(drawing.links) == 1


def test_what_a_described_release_asks_for_is_one_line():
    described = Box(
        component="cudnn",
        role="kernels",
        layer=Layer.LIBRARY,
        name="cuDNN",
        requires=RequirementTable("9.26", (), is_newest=True),
    )
    links = (
        link("cudnn", "nvidia-driver", State.DESCRIBED, "needs NVIDIA driver ≥ 580"),
        link("cudnn", "cuda-runtime", State.DESCRIBED, "needs CUDA runtime 13"),
    )
    (only,) = said(drawn(*links, boxes=(described, RUNTIME, DRIVER)), "cudnn")
    assert only.text == "9.26 needs NVIDIA driver ≥ 580; needs CUDA runtime 13"


def test_a_link_is_folded_away_with_a_row_that_does_not_differ():
    left = StackColumn(key="a", title="A", subtitle="", url="/a/", boxes=BOXES, links=(link("pytorch", "cudnn"),))
    same = draw_columns([left, StackColumn(key="b", title="B", subtitle="", url="/b/", boxes=BOXES)])
    other = draw_columns([left, StackColumn(key="b", title="B", subtitle="", url="/b/", boxes=(RUNTIME, DRIVER))])
    assert [one.differs for one in same.links] == [False]
    assert [one.differs for one in other.links] == [True]


def test_of_two_kinds_of_card_the_link_ends_at_the_first():
    cards = tuple(
        Box(component="hardware", role="accelerator", layer=Layer.HARDWARE, name=name)
        for name in ("RTX 4090", "RTX 3090")
    )
    (only,) = drawn(link("pytorch", "hardware"), boxes=(PYTORCH, *cards)).links
    assert (only.top, only.bottom) == ("c1b0", "c1b1")


def test_no_link_stands_between_columns():
    columns = [
        StackColumn(key="a", title="A", subtitle="", url="/a/", boxes=(PYTORCH,), links=(link("pytorch", "cudnn"),)),
        StackColumn(key="b", title="B", subtitle="", url="/b/", boxes=(CUDNN,)),
    ]
    assert draw_columns(columns).links == ()
