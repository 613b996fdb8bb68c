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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, StackColumn, copy_with
from stackviz.draw.diagrams.drawing import LayerRows, Placed, RoleCell, RoleRow, StackDrawing
from stackviz.draw.diagrams.layers import Layer, State, role_title
from stackviz.draw.diagrams.links import ColumnLines, End, drawn_links, ends_of, with_lines

__all__ = ["LayerRows", "Placed", "RoleCell", "RoleRow", "StackDrawing", "draw_columns"]


@dataclass(slots=True)
class _Cell:
    """The boxes of one role in one column: those there are, and those that stand for what is absent."""

    present: list[Box] = field(default_factory=list)
    lacking: list[Box] = field(default_factory=list)


_NOTHING = _Cell()
_Roles = dict[str, _Cell]  # in the order of the column


def draw_columns(columns: Sequence[StackColumn], *, is_brief: bool = False) -> StackDrawing:
    """Lay the columns side by side. Any number of columns, none included, gives eight layers.

    `is_brief`: no box is explained, neither by itself nor against its counterparts.
    """
    by_layer = [_by_layer(column) for column in columns]
    layers = [_layer(layer, columns, [roles[layer] for roles in by_layer], is_brief=is_brief) for layer in Layer]
    ends = [ends_of(index, column, layers) for index, column in enumerate(columns)]
    links = tuple(link for index, column in enumerate(columns) for link in drawn_links(index, column, ends[index]))
    lanes = [max((link.lane + 1 for link in links if link.column == index), default=0) for index in range(len(columns))]
    lines = [ColumnLines(column) for column in columns]
    layers = [_layer_with_lines(layer, ends, lines) for layer in layers]
    return StackDrawing(tuple(columns), tuple(layers), links, tuple(lanes))


def _by_layer(column: StackColumn) -> dict[Layer, _Roles]:
    layers: dict[Layer, _Roles] = {layer: {} for layer in Layer}
    for box in column.boxes:
        roles = layers[box.layer]
        cell = roles.get(box.role)
        if cell is None:
            cell = roles[box.role] = _Cell()
        (cell.lacking if box.state == State.ABSENT else cell.present).append(box)
    return layers


def _layer_with_lines(layer: LayerRows, ends: Sequence[Mapping[str, End]], lines: Sequence[ColumnLines]) -> LayerRows:
    rows = tuple(with_lines(row, ends, lines) for row in layer.rows)
    return copy_with(layer, rows=rows, differing=tuple(row for row in rows if row.differs))


def _layer(layer: Layer, columns: Sequence[StackColumn], cells: Sequence[_Roles], *, is_brief: bool) -> LayerRows:
    label = layer.label
    roles = _merged([list(by_role) for by_role in cells])
    # A role that is absent from all columns has no row.
    roles = [role for role in roles if any(by_role.get(role, _NOTHING).present for by_role in cells)]
    rows = [_row(role, label, columns, cells, is_brief=is_brief) for role in roles] or [_empty_row(columns)]
    same = tuple(_names(row) for row in rows if not row.differs and _names(row))
    return LayerRows(layer, label, tuple(rows), tuple(row for row in rows if row.differs), same)


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


def _row(
    role: str, layer: str, columns: Sequence[StackColumn], by_role: Sequence[_Roles], *, is_brief: bool
) -> RoleRow:
    """`layer`: its label; a role of the same name needs no title."""
    present = [roles.get(role, _NOTHING).present for roles in by_role]
    components = {box.component for boxes in present for box in boxes}
    cells = [
        RoleCell(column=column, placed=tuple(_placed(box, components, is_brief=is_brief) for box in boxes))
        if boxes
        else _gap(column, role, roles, present)
        for column, boxes, roles in zip(columns, present, by_role, strict=True)
    ]
    title = role_title(role)
    return RoleRow(
        role,
        "" if title.casefold() == layer.casefold() else title,
        tuple(cells if is_brief else _explained_once(cells)),
        _differs(present),
    )


def _gap(column: StackColumn, role: str, roles: _Roles, row: Sequence[Sequence[Box]]) -> RoleCell:
    """The cell of a column without the role. `roles`: those of its layer; `row`: the boxes of the other columns."""
    components = {box.component for boxes in row for box in boxes}
    elsewhere = _elsewhere([box for cell in roles.values() for box in cell.present], components)
    return RoleCell(
        column=column,
        placed=(),
        missing=elsewhere or _no_counterpart(list(dict.fromkeys(box.name for boxes in row for box in boxes))),
        instead=_instead([box for cell in roles.values() for box in cell.lacking], role, components),
        is_gap=not elsewhere,
    )


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
    return copy_with(other, source=None) if other.differs in with_lines else other


def _elsewhere(boxes: Sequence[Box], components: set[str]) -> str:
    """A reference to the row's components in another row of the layer, in another role; "" where there are none."""
    moved = [box for box in boxes if box.component in components]
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
    cells = tuple(RoleCell(column=column, placed=(), missing=gettext("not described")) for column in columns)
    return RoleRow("", "", cells, differs=False)


def _placed(box: Box, components: set[str], *, is_brief: bool) -> Placed:
    if is_brief or not box.counterparts:
        return Placed(box, ())
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
