"""Columns of boxes become rows: counterparts side by side, always eight layers, differences marked."""

from dataclasses import replace

import pytest

from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, BoxNote, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.stack import RoleRow, StackDrawing, draw_columns


def box(component: str, role: str = "", layer: Layer = Layer.LIBRARY, **changes) -> Box:
    return Box(component=component, role=role or component, layer=layer, name=component.upper(), **changes)


def column(key: str, *boxes: Box) -> StackColumn:
    return StackColumn(key=key, title=f"Stack {key}", subtitle="", url=f"/{key}/", boxes=boxes)


def rows_of(drawing: StackDrawing, layer: Layer) -> dict[str, RoleRow]:
    return {row.role: row for found in drawing.layers if found.layer == layer for row in found.rows}


@pytest.mark.parametrize("columns", [[], [column("empty")], [column("a", box("cudnn")), column("b")]])
def test_there_are_always_the_same_eight_layers(columns):
    drawn = draw_columns(columns)
    names = ["application", "framework", "compiler", "library", "platform", "driver", "os", "hardware"]
    assert [layer.layer for layer in drawn.layers] == names
    assert all(layer.rows for layer in drawn.layers)


def test_counterparts_share_a_row():
    drawn = draw_columns([column("nvidia", box("cudnn", "kernels")), column("apple", box("mpsgraph", "kernels"))])
    [row] = rows_of(drawn, Layer.LIBRARY).values()
    assert [[placed.box.component for placed in cell.placed] for cell in row.cells] == [["cudnn"], ["mpsgraph"]]


@pytest.mark.parametrize(
    ("done_by", "missing", "is_gap"), [("", "none", True), ("MPSGraph", "done by MPSGraph", False)]
)
def test_an_empty_cell_says_who_does_the_job(done_by, missing, is_gap):
    unfilled = replace(box("", "collectives", state=State.ABSENT, summary="How."), name=done_by)
    drawn = draw_columns([column("nvidia", box("nccl", "collectives")), column("apple", unfilled)])
    cell = rows_of(drawn, Layer.LIBRARY)["collectives"].cells[1]
    assert (cell.placed, cell.missing, cell.instead, cell.is_gap) == ((), missing, "How.", is_gap)


def test_a_column_that_does_not_describe_a_role_has_no_gap():
    drawn = draw_columns([column("nvidia", box("nccl", "collectives")), column("apple", box("mpsgraph"))])
    cell = rows_of(drawn, Layer.LIBRARY)["collectives"].cells[1]
    assert (cell.missing, cell.is_gap) == ("not described", False)


def test_component_in_another_row_gets_a_pointer():
    gpu = column("gpu", box("mkl", "cpu-math"))
    cpu = column("cpu", box("mkl", "matrix-product"))
    drawn = draw_columns([gpu, cpu])
    cell = rows_of(drawn, Layer.LIBRARY)["cpu-math"].cells[1]
    assert (cell.missing, cell.is_gap) == ("MKL: see matrix product", False)


def test_a_role_that_every_column_lacks_has_no_row():
    gap = box("nccl", "collectives", state=State.ABSENT)
    drawn = draw_columns([column("apple", gap, box("mpsgraph")), column("cpu", gap, box("onednn"))])
    assert "collectives" not in rows_of(drawn, Layer.LIBRARY)


def test_rows_keep_the_order_of_each_column():
    left = column("left", box("a"), box("b"), box("d"))
    right = column("right", box("b"), box("c"), box("d"), box("e"))
    assert list(rows_of(draw_columns([left, right]), Layer.LIBRARY)) == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("left", "right", "differs"),
    [
        ([box("x")], [box("x")], False),
        ([box("x")], [box("y", "x")], True),
        ([box("x")], [], True),
        ([box("x", version="1")], [box("x", version="2")], True),
        ([box("x", version="≥ 1")], [box("x", version="3", state=State.REPORTED)], False),
        ([box("x"), box("y", "x")], [box("y", "x", state=State.REPORTED)], False),
        ([box("x")], [box("z", "x", state=State.REPORTED)], True),
        ([box("x")], [box("x", state=State.UNKNOWN)], False),
        ([box("x", version="1", state=State.REPORTED)], [box("x", version="1", state=State.FITS)], False),
        ([box("x", version="1", state=State.REPORTED)], [box("x", state=State.UNKNOWN)], True),
        ([box("x")], [box("x", state=State.BROKEN)], True),
        ([box("x")], [box("x", state=State.WARNING)], True),
    ],
)
def test_a_row_differs_when_the_columns_do_not_say_the_same(left, right, differs):
    drawn = draw_columns([column("a", *left), column("b", *right)])
    assert rows_of(drawn, Layer.LIBRARY)["x"].differs is differs


def test_equal_rows_are_folded_and_named():
    drawn = draw_columns([column("a", box("x", state=State.BROKEN))])
    assert drawn.differing_count == 0
    drawn = draw_columns([column("a", box("x"), box("y")), column("b", box("x"), box("z", "y"))])
    library = next(layer for layer in drawn.layers if layer.layer == Layer.LIBRARY)
    assert (library.same, [row.role for row in library.differing]) == (("X",), ["y"])


def test_box_lists_counterparts_in_its_row():
    others = (BoxCounterpart("mpsgraph", "MPSGraph", "m"), BoxCounterpart("onednn", "oneDNN", "o"))
    cudnn = box("cudnn", "kernels", counterparts=others)
    drawn = draw_columns([column("nvidia", cudnn), column("cpu", box("onednn", "kernels"))])
    placed = rows_of(drawn, Layer.LIBRARY)["kernels"].cells[0].placed[0]
    assert [other.component for other in placed.against] == ["onednn"]


def test_narrow_screen_merges_equal_cells():
    same = draw_columns([column("a", box("x")), column("b", box("x"))])
    noted = replace(box("x"), notes=(BoxNote(State.FITS, "needs 1: has 2"),))
    other = draw_columns([column("a", box("x")), column("b", noted)])
    assert rows_of(same, Layer.LIBRARY)["x"].is_alike
    assert not rows_of(other, Layer.LIBRARY)["x"].is_alike


def test_six_columns_with_the_same_name_stay_six():
    drawn = draw_columns([column("a", box("x"))] * 6)
    assert len(rows_of(drawn, Layer.LIBRARY)["x"].cells) == 6
