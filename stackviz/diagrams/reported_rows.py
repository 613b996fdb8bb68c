"""What machines speak of: rows of which none says anything are left out of a drawing and named beside it."""

from collections.abc import Sequence
from dataclasses import replace

from stackviz.diagrams.boxes import Box, Column
from stackviz.diagrams.layers import Layer, State


def drop_unreported_rows(columns: Sequence[Column]) -> tuple[list[Column], tuple[str, ...]]:
    """The columns without the rows that none says anything about, and the names of what is left out so.

    Each layer keeps its first row, so that it says "not reported" where nothing of it is.
    """
    spoken = {_row(box) for column in columns for box in column.boxes if _is_told(box)}
    told_layers = {layer for layer, _role in spoken}
    for layer in Layer:
        if layer not in told_layers:
            spoken.update([_row(box) for column in columns for box in column.boxes if box.layer == layer][:1])
    left_out = [box for column in columns for box in column.boxes if _row(box) not in spoken]
    names = tuple(dict.fromkeys(box.name for box in left_out if box.state != State.ABSENT))
    return [_only(column, spoken) for column in columns], names


def is_stack(columns: Sequence[Column]) -> bool:
    """Whether anything below the programs is told of: else there is nothing to draw."""
    return any(_is_told(box) and box.layer != Layer.APPLICATION for column in columns for box in column.boxes)


def _only(column: Column, rows: set[tuple[Layer, str]]) -> Column:
    boxes = tuple(box for box in column.boxes if _row(box) in rows or box.state == State.ABSENT)
    drawn = {box.component for box in boxes}
    links = tuple(link for link in column.links if {link.source_component, link.target_component} <= drawn)
    return replace(column, boxes=boxes, links=links)


def _row(box: Box) -> tuple[Layer, str]:
    return box.layer, box.role


def _is_told(box: Box) -> bool:
    return bool(box.notes) or box.state not in (State.UNKNOWN, State.ABSENT)
