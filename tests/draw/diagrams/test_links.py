"""Requirement links: which boxes they tie, on which lane they run, and what is written of them."""

from dataclasses import replace

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


def column(key: str, boxes: tuple[Box, ...], *links: RequirementLink) -> StackColumn:
    return StackColumn(key=key, title=key, subtitle="", url="/a/", boxes=boxes, links=links)


def drawn(*links: RequirementLink, boxes: tuple[Box, ...] = BOXES) -> StackDrawing:
    return draw_columns([column("a", boxes, *links)])


def said(drawing: StackDrawing, component: str) -> tuple[BoxLine, ...]:
    cells = (cell for layer in drawing.layers for row in layer.rows for cell in row.cells)
    return next(one.lines for cell in cells for one in cell.placed if one.box.component == component)


def test_link_connects_requirement_to_provider():
    drawing = drawn(link("pytorch", "nvidia-driver"))
    cells = [cell for layer in drawing.layers for row in layer.rows for cell in row.cells]
    keys = {one.box.component: one.key for cell in cells for one in cell.placed}
    (only,) = drawing.links
    assert (only.top, only.bottom, only.is_up) == (keys["pytorch"], keys["nvidia-driver"], False)
    assert keys["cudnn"] == ""
    (only,) = drawn(link("nvidia-driver", "pytorch")).links
    assert only.is_up


@pytest.mark.parametrize(("source", "target"), [("pytorch", "nowhere"), ("nowhere", "pytorch"), ("pytorch", "pytorch")])
def test_a_link_without_two_ends_is_not_drawn(source, target):
    assert drawn(link(source, target)).links == ()


def test_words_of_a_link_without_source_are_at_its_target():
    assert said(drawn(link("nowhere", "cudnn", State.BROKEN, "too old")), "cudnn") == (
        BoxLine(State.BROKEN, "too old"),
    )


@pytest.mark.parametrize(
    ("other", "lanes"),
    [
        (link("cudnn", "cuda-runtime"), [0, 1]),
        (link("cudnn", "nvidia-driver"), [0, 0]),
        (link("cudnn", "nvidia-driver", State.BROKEN), [0, 1]),
    ],
    ids=["that overlap", "to the same box", "one is broken"],
)
def test_links_share_a_lane_only_where_each_is_seen(other, lanes):
    drawing = drawn(link("pytorch", "nvidia-driver"), other)
    assert sorted(one.lane for one in drawing.links) == lanes
    assert drawing.lanes == (len(set(lanes)),)


def test_worse_verdict_on_a_pair_is_drawn():
    drawing = drawn(
        link("cudnn", "nvidia-driver", text="new enough"),
        link("cudnn", "nvidia-driver", State.WARNING, "support ended"),
    )
    assert [one.state for one in drawing.links] == [State.WARNING]
    assert [one.text for one in said(drawing, "cudnn")] == ["new enough", "support ended"]


@pytest.mark.parametrize("state", [State.FITS, State.DESCRIBED])
def test_a_link_that_a_note_tells_is_not_told_twice(state):
    noted = replace(CUDNN, notes=(BoxNote(state, "it holds"),))
    drawing = drawn(link("cudnn", "nvidia-driver", state), boxes=(noted, DRIVER))
    assert [one.text for one in said(drawing, "cudnn")] == ["it holds"]
    assert len(drawing.links) == 1


def test_what_a_described_release_asks_for_is_one_line():
    described = replace(CUDNN, requires=RequirementTable("9.26", (), is_newest=True))
    links = (
        link("cudnn", "nvidia-driver", State.DESCRIBED, "needs NVIDIA driver ≥ 580"),
        link("cudnn", "cuda-runtime", State.DESCRIBED, "needs CUDA runtime 13"),
    )
    (only,) = said(drawn(*links, boxes=(described, RUNTIME, DRIVER)), "cudnn")
    assert only.text == "9.26 needs NVIDIA driver ≥ 580; needs CUDA runtime 13"


def test_a_link_is_folded_away_with_a_row_that_does_not_differ():
    left = column("a", BOXES, link("pytorch", "cudnn"))
    for boxes, differs in ((BOXES, False), ((RUNTIME, DRIVER), True)):
        drawing = draw_columns([left, column("b", boxes)])
        assert [one.differs for one in drawing.links] == [differs]
    # none is drawn between columns
    assert draw_columns([column("a", (PYTORCH,), link("pytorch", "cudnn")), column("b", (CUDNN,))]).links == ()


def test_of_two_kinds_of_card_the_link_ends_at_the_first():
    cards = tuple(
        Box(component="hardware", role="accelerator", layer=Layer.HARDWARE, name=name)
        for name in ("RTX 4090", "RTX 3090")
    )
    (only,) = drawn(link("pytorch", "hardware"), boxes=(PYTORCH, *cards)).links
    assert (only.top, only.bottom) == ("c1b0", "c1b1")
