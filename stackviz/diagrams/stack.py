"""Columns of boxes -> the rows of a side-by-side stack diagram. Pure: no ORM, no request.

                     NVIDIA CUDA on Linux      Apple Metal on macOS
    Libraries
      neural-net     [cuDNN]                   [MPSGraph]
      collectives    [NCCL]                    - no counterpart of NCCL
    Compute platform
      ...

Always the eight layers in the same order; inside a layer one row for each role, so that counterparts stand side by
side.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext

from stackviz.diagrams.boxes import Box, Column, Counterpart
from stackviz.diagrams.drawing import Cell, Drawing, LayerRows, Placed, Row
from stackviz.diagrams.layers import Layer, State, role_title
from stackviz.diagrams.links import End, drawn_links, ends_of, told
from stackviz.diagrams.sentences import spoken

__all__ = ["Cell", "Drawing", "LayerRows", "Placed", "Row", "draw_columns"]


def draw_columns(columns: Sequence[Column]) -> Drawing:
    """Lay the columns side by side. Any number of columns, none included, gives eight layers."""
    layers = [_layer(layer, columns) for layer in Layer]
    ends = [ends_of(place, column, layers) for place, column in enumerate(columns)]
    links = tuple(link for place, column in enumerate(columns) for link in drawn_links(place, column, ends[place]))
    lanes = [max((link.lane + 1 for link in links if link.column == place), default=0) for place in range(len(columns))]
    layers = [_told_layer(layer, ends) for layer in layers]
    return Drawing(tuple(columns), tuple(layers), links, tuple(lanes), spoken(columns, layers))


def _told_layer(layer: LayerRows, ends: Sequence[Mapping[str, End]]) -> LayerRows:
    rows = tuple(told(row, ends) for row in layer.rows)
    return replace(layer, rows=rows, differing=tuple(row for row in rows if row.differs))


def _layer(layer: Layer, columns: Sequence[Column]) -> LayerRows:
    own = [[box for box in column.boxes if box.layer == layer] for column in columns]
    roles = _merged([_roles(boxes) for boxes in own])
    # A role that every column either lacks or only names to say it is absent has nothing to show.
    rows = [_row(role, columns, own) for role in roles if any(_has(boxes, role) for boxes in own)]
    rows = rows or [_empty_row(columns)]
    rows = [replace(row, title="") if row.title.casefold() == layer.label.casefold() else row for row in rows]
    same = tuple(_names(row) for row in rows if not row.differs and _names(row))
    return LayerRows(layer, layer.label, tuple(rows), tuple(row for row in rows if row.differs), same)


def _roles(boxes: Iterable[Box]) -> list[str]:
    return list(dict.fromkeys(box.role for box in boxes))


def _has(boxes: Iterable[Box], role: str) -> bool:
    return any(box.role == role and box.state != State.ABSENT for box in boxes)


def _merged(orders: Sequence[Sequence[str]]) -> list[str]:
    """One order that keeps each column's own as far as they agree: a new role goes after the one it follows."""
    merged: list[str] = []
    for order in orders:
        at = 0
        for role in order:
            if role in merged:
                at = merged.index(role) + 1
            else:
                merged.insert(at, role)
                at += 1
    return merged


def _row(role: str, columns: Sequence[Column], own: Sequence[Sequence[Box]]) -> Row:
    boxes = [[box for box in column_boxes if box.role == role] for column_boxes in own]
    present = [[box for box in cell if box.state != State.ABSENT] for cell in boxes]
    lacking = [[box for box in column_boxes if box.state == State.ABSENT] for column_boxes in own]
    named = list(dict.fromkeys(box.name for cell in present for box in cell))
    components = {box.component for cell in present for box in cell}
    cells = []
    for place, (column, here, lacks) in enumerate(zip(columns, present, lacking, strict=True)):
        number = column.number or place + 1
        if here:
            cells.append(Cell(column=column, number=number, placed=tuple(_place(box, components) for box in here)))
        else:
            elsewhere = _elsewhere(own[place], components)
            instead = _instead(lacks, role, components)
            cells.append(
                Cell(
                    column=column,
                    number=number,
                    placed=(),
                    missing=elsewhere or _no_counterpart(named),
                    instead=instead,
                    is_gap=not elsewhere,
                )
            )
    return Row(role, role_title(role), tuple(_told_once(cells)), _differs(present))


def _told_once(cells: Sequence[Cell]) -> Iterator[Cell]:
    """The cells with nothing explained twice: the source of a difference, which is told from both sides, stands where
    it is first told; a box that is explained in the very same words to the left of it leads to its page."""
    sourced: set[str] = set()
    explained: set[tuple[object, ...]] = set()
    for cell in cells:
        placed = []
        for one in cell.placed:
            against = tuple(_sourced(other, sourced) for other in one.against)
            words = (one.box.component, one.box.summary, one.box.requires)
            placed.append(replace(one, against=against, is_repeat=bool(one.box.url) and words in explained))
            explained.add(words)
        sourced |= {other.differs for one in cell.placed for other in one.against}
        yield replace(cell, placed=tuple(placed))


def _sourced(other: Counterpart, told: set[str]) -> Counterpart:
    return replace(other, source_title="", source_url="") if other.differs in told else other


def _elsewhere(boxes: Sequence[Box], components: set[str]) -> str:
    """Where the column has the row's components in another row of this layer, doing another job; "" if nowhere."""
    moved = [box for box in boxes if box.component in components and box.state != State.ABSENT]
    if not moved:
        return ""
    names = ", ".join(dict.fromkeys(box.name for box in moved))
    roles = ", ".join(dict.fromkeys(role_title(box.role) for box in moved))
    return gettext("%(names)s: see %(role)s") % {"names": names, "role": roles}


def _instead(lacking: Sequence[Box], role: str, components: set[str]) -> str:
    """What an empty cell says: about the components this row shows, or else about all of this role it lacks."""
    about = [box for box in lacking if box.component in components] or [box for box in lacking if box.role == role]
    return " ".join(dict.fromkeys(box.summary for box in about))


def _empty_row(columns: Sequence[Column]) -> Row:
    cells = tuple(
        Cell(column=column, number=column.number or place, placed=(), missing=gettext("nothing described"))
        for place, column in enumerate(columns, 1)
    )
    return Row("", "", cells, differs=False)


def _place(box: Box, components: set[str]) -> Placed:
    return Placed(box, tuple(other for other in box.counterparts if other.component in components))


def _no_counterpart(names: Sequence[str]) -> str:
    return gettext("no counterpart of %(names)s") % {"names": ", ".join(names)}


def _names(row: Row) -> str:
    return ", ".join(dict.fromkeys(placed.box.name for cell in row.cells for placed in cell.placed))


def _differs(cells: Sequence[Sequence[Box]]) -> bool:
    """Whether the columns disagree: an alarm in one of them, a component one of them lacks, or other versions.

    A description says what may be there, a machine what is: a machine with one of the described alternatives agrees
    with the description, and a described version (">= 525.60.13") is a demand, not compared with a reported one.
    """
    if len(cells) < 2:
        return False
    if any(box.state in (State.WARNING, State.BROKEN) for cell in cells for box in cell):
        return True
    if len({bool(cell) for cell in cells}) > 1:
        return True
    described = {_said(cell) for cell in cells if any(box.state == State.DESCRIBED for box in cell)}
    reported = {_said(cell) for cell in cells if not any(box.state == State.DESCRIBED for box in cell)}
    if len(described) > 1 or len(reported) > 1:
        return True
    offered = {component for said in described for component, _ in said}
    return bool(offered) and any(component not in offered for said in reported for component, _ in said)


def _said(cell: Sequence[Box]) -> frozenset[tuple[str, str]]:
    """What a cell states: its components with their versions. "Not reported" states nothing."""
    return frozenset((box.component or box.name, box.version) for box in cell if box.state != State.UNKNOWN)
