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

from django.utils.translation import gettext

from stackviz.diagrams.boxes import Box, BoxCounterpart, StackColumn
from stackviz.diagrams.copies import copy_with
from stackviz.diagrams.drawing import LayerRows, Placed, RoleCell, RoleRow, StackDrawing
from stackviz.diagrams.layers import Layer, State, role_title
from stackviz.diagrams.links import ColumnLines, End, drawn_links, ends_of, with_lines
from stackviz.diagrams.sentences import layer_sentences

__all__ = ["LayerRows", "Placed", "RoleCell", "RoleRow", "StackDrawing", "draw_columns"]


def draw_columns(columns: Sequence[StackColumn]) -> StackDrawing:
    """Lay the columns side by side. Any number of columns, none included, gives eight layers."""
    layers = [_layer(layer, columns) for layer in Layer]
    ends = [ends_of(index, column, layers) for index, column in enumerate(columns)]
    links = tuple(link for index, column in enumerate(columns) for link in drawn_links(index, column, ends[index]))
    lanes = [max((link.lane + 1 for link in links if link.column == index), default=0) for index in range(len(columns))]
    lines = [ColumnLines(column) for column in columns]
    layers = [_layer_with_lines(layer, ends, lines) for layer in layers]
    return StackDrawing(tuple(columns), tuple(layers), links, tuple(lanes), layer_sentences(columns, layers))


def _layer_with_lines(layer: LayerRows, ends: Sequence[Mapping[str, End]], lines: Sequence[ColumnLines]) -> LayerRows:
    rows = tuple(with_lines(row, ends, lines) for row in layer.rows)
    return copy_with(layer, rows=rows, differing=tuple(row for row in rows if row.differs))


def _layer(layer: Layer, columns: Sequence[StackColumn]) -> LayerRows:
    by_column = [[box for box in column.boxes if box.layer == layer] for column in columns]
    roles = _merged([_roles(boxes) for boxes in by_column])
    # A role that is absent from all columns has no row.
    rows = [_row(role, columns, by_column) for role in roles if any(_has(boxes, role) for boxes in by_column)]
    rows = rows or [_empty_row(columns)]
    rows = [copy_with(row, title="") if row.title.casefold() == layer.label.casefold() else row for row in rows]
    same = tuple(_names(row) for row in rows if not row.differs and _names(row))
    return LayerRows(layer, layer.label, tuple(rows), tuple(row for row in rows if row.differs), same)


def _roles(boxes: Iterable[Box]) -> list[str]:
    return list(dict.fromkeys(box.role for box in boxes))


def _has(boxes: Iterable[Box], role: str) -> bool:
    return any(box.role == role and box.state != State.ABSENT for box in boxes)


def _merged(orders: Sequence[Sequence[str]]) -> list[str]:
    """The merged order of the columns: a new role follows its predecessor."""
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


def _row(role: str, columns: Sequence[StackColumn], by_column: Sequence[Sequence[Box]]) -> RoleRow:
    boxes = [[box for box in column_boxes if box.role == role] for column_boxes in by_column]
    present = [[box for box in cell if box.state != State.ABSENT] for cell in boxes]
    lacking = [[box for box in column_boxes if box.state == State.ABSENT] for column_boxes in by_column]
    named = list(dict.fromkeys(box.name for cell in present for box in cell))
    components = {box.component for cell in present for box in cell}
    cells = []
    for index, (column, here, lacks) in enumerate(zip(columns, present, lacking, strict=True)):
        number = column.number or index + 1
        if here:
            cells.append(RoleCell(column=column, number=number, placed=tuple(_placed(box, components) for box in here)))
        else:
            elsewhere = _elsewhere(by_column[index], components)
            instead = _instead(lacks, role, components)
            cells.append(
                RoleCell(
                    column=column,
                    number=number,
                    placed=(),
                    missing=elsewhere or _no_counterpart(named),
                    instead=instead,
                    is_gap=not elsewhere,
                )
            )
    return RoleRow(role, role_title(role), tuple(_explained_once(cells)), _differs(present))


def _explained_once(cells: Sequence[RoleCell]) -> Iterator[RoleCell]:
    """The cells without repeated explanations: each source of a difference is shown once, and a box that is explained
    in a column to the left links to its page instead."""
    if sum(len(cell.placed) for cell in cells) < 2:
        yield from cells
        return
    sourced: set[str] = set()
    explained: dict[str, list[Box]] = {}  # by component
    for cell in cells:
        placed = []
        for item in cell.placed:
            against = tuple(_sourced(other, sourced) for other in item.against)
            before = explained.setdefault(item.box.component, [])
            is_repeat = bool(item.box.url) and any(_is_explained_as(item.box, other) for other in before)
            placed.append(Placed(item.box, against, is_repeat=is_repeat))
            before.append(item.box)
        sourced |= {other.differs for item in cell.placed for other in item.against}
        yield copy_with(cell, placed=tuple(placed)) if placed else cell


def _is_explained_as(box: Box, other: Box) -> bool:
    return box.summary == other.summary and box.requires == other.requires


def _sourced(other: BoxCounterpart, with_lines: set[str]) -> BoxCounterpart:
    return copy_with(other, source_title="", source_url="") if other.differs in with_lines else other


def _elsewhere(boxes: Sequence[Box], components: set[str]) -> str:
    """A reference to the row's components in another row of the layer, in another role; "" where there are none."""
    moved = [box for box in boxes if box.component in components and box.state != State.ABSENT]
    if not moved:
        return ""
    names = ", ".join(dict.fromkeys(box.name for box in moved))
    roles = ", ".join(dict.fromkeys(role_title(box.role) for box in moved))
    return gettext("%(names)s: see %(role)s") % {"names": names, "role": roles}


def _instead(lacking: Sequence[Box], role: str, components: set[str]) -> str:
    """The text of an empty cell: about the components of this row, or else about all absent ones of this role."""
    about = [box for box in lacking if box.component in components] or [box for box in lacking if box.role == role]
    return " ".join(dict.fromkeys(box.summary for box in about))


def _empty_row(columns: Sequence[StackColumn]) -> RoleRow:
    cells = tuple(
        RoleCell(column=column, number=column.number or index, placed=(), missing=gettext("not described"))
        for index, column in enumerate(columns, 1)
    )
    return RoleRow("", "", cells, differs=False)


def _placed(box: Box, components: set[str]) -> Placed:
    return Placed(box, tuple(other for other in box.counterparts if other.component in components))


def _no_counterpart(names: Sequence[str]) -> str:
    return gettext("no counterpart of %(names)s") % {"names": ", ".join(names)}


def _names(row: RoleRow) -> str:
    return ", ".join(dict.fromkeys(placed.box.name for cell in row.cells for placed in cell.placed))


def _differs(cells: Sequence[Sequence[Box]]) -> bool:
    """Whether the columns differ: a warning in one, a missing component, or different versions.

    A machine with one of the described alternatives equals the description; a described version (">= 525.60.13") is a
    requirement and is not compared with a reported one.
    """
    if len(cells) < 2:
        return False
    if any(box.state in (State.WARNING, State.BROKEN) for cell in cells for box in cell):
        return True
    if len({bool(cell) for cell in cells}) > 1:
        return True
    described = {_stated(cell) for cell in cells if any(box.state == State.DESCRIBED for box in cell)}
    reported = {_stated(cell) for cell in cells if not any(box.state == State.DESCRIBED for box in cell)}
    if len(described) > 1 or len(reported) > 1:
        return True
    offered = {component for stated in described for component, _ in stated}
    return bool(offered) and any(component not in offered for stated in reported for component, _ in stated)


def _stated(cell: Sequence[Box]) -> frozenset[tuple[str, str]]:
    """The components of a cell with their versions, without those not reported."""
    return frozenset((box.component or box.name, box.version) for box in cell if box.state != State.UNKNOWN)
