"""Rows that machines reported: the others are left out of a drawing and listed beside it."""

from collections.abc import Sequence

from stackviz.diagrams.boxes import Box, StackColumn
from stackviz.diagrams.copies import copy_with
from stackviz.diagrams.layers import Layer, State


def drop_unreported_rows(columns: Sequence[StackColumn]) -> tuple[list[StackColumn], tuple[str, ...]]:
    """The columns without the rows that no machine reported, and the names of the components left out.

    Each layer keeps its first row, which then reads "not reported".
    """
    reported = {_row(box) for column in columns for box in column.boxes if _is_reported(box)}
    reported_layers = {layer for layer, _role in reported}
    for layer in Layer:
        if layer not in reported_layers:
            reported.update([_row(box) for column in columns for box in column.boxes if box.layer == layer][:1])
    left_out = [box for column in columns for box in column.boxes if _row(box) not in reported]
    names = tuple(dict.fromkeys(box.name for box in left_out if box.state != State.ABSENT))
    return [_only(column, reported) for column in columns], names


def is_stack(columns: Sequence[StackColumn]) -> bool:
    """Whether anything below the application layer was reported, so that there is a stack to draw."""
    return any(_is_reported(box) and box.layer != Layer.APPLICATION for column in columns for box in column.boxes)


def _only(column: StackColumn, rows: set[tuple[Layer, str]]) -> StackColumn:
    boxes = tuple(box for box in column.boxes if _row(box) in rows or box.state == State.ABSENT)
    drawn = {box.component for box in boxes}
    links = tuple(link for link in column.links if {link.source_component, link.target_component} <= drawn)
    return copy_with(column, boxes=boxes, links=links)


def _row(box: Box) -> tuple[Layer, str]:
    return box.layer, box.role


def _is_reported(box: Box) -> bool:
    return bool(box.notes) or box.state not in (State.UNKNOWN, State.ABSENT)
