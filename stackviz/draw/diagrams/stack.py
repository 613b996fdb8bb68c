"""Columns of boxes -> the rows of a side-by-side stack diagram. Pure: no ORM, no request.

                     NVIDIA CUDA on Linux      Apple Metal on macOS
    Libraries
      neural-net     [cuDNN]                   [MPSGraph]
      collectives    [NCCL]                    - none
    Compute platform
      ...

Always the eight layers in the same order; inside a layer one row for each role, so that counterparts stand side by
side.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, RequirementLink, StackColumn, copy_with
from stackviz.draw.diagrams.drawing import BoxLine, DrawnLink, LayerRows, Placed, RoleCell, RoleRow, StackDrawing
from stackviz.draw.diagrams.layers import Layer, State, role_title

__all__ = ["LayerRows", "Placed", "RoleCell", "RoleRow", "StackDrawing", "draw_columns"]


@dataclass(frozen=True)
class End:
    """One end of a link: the key of the box, its position in the column, whether its row differs."""

    key: str
    order: int
    row_differs: bool


def ends_of(index: int, column: StackColumn, layers: Sequence[LayerRows]) -> dict[str, End]:
    """Component -> end, for the boxes of a column that links refer to; the first box of a component counts."""
    wanted = {end for link in column.links for end in (link.source_component, link.target_component)}
    ends: dict[str, End] = {}
    shown = ((placed.box, row.differs) for layer in layers for row in layer.rows for placed in row.cells[index].placed)
    for order, (box, differs) in enumerate(shown):
        if box.component in wanted and box.component not in ends:
            ends[box.component] = End(f"c{index + 1}b{order}", order, differs)
    return ends


def drawn_links(index: int, column: StackColumn, ends: Mapping[str, End]) -> list[DrawnLink]:
    """One bracket for each pair of boxes, in the worst state of their links."""
    worst: dict[tuple[str, str], State] = {}
    for link in column.links:
        pair = (link.source_component, link.target_component)
        if pair[0] != pair[1] and pair[0] in ends and pair[1] in ends:
            worst[pair] = max(worst.get(pair, link.state), link.state, key=_ALARM.index)
    lanes = _lanes({pair: (ends[pair[0]].order, ends[pair[1]].order) for pair in worst}, worst)
    return [_drawn_link(index, ends[pair[0]], ends[pair[1]], state, lanes[pair]) for pair, state in worst.items()]


# In order of severity.
_ALARM = (State.DESCRIBED, State.REPORTED, State.ABSENT, State.FITS, State.UNKNOWN, State.WARNING, State.BROKEN)


def _drawn_link(index: int, source: End, target: End, state: State, lane: int) -> DrawnLink:
    top, bottom = sorted((source, target), key=lambda end: end.order)
    return DrawnLink(
        column=index,
        top=top.key,
        bottom=bottom.key,
        is_up=top is target,
        lane=lane,
        state=state,
        differs=source.row_differs and target.row_differs,
    )


def _lanes(
    spans: Mapping[tuple[str, str], tuple[int, int]], states: Mapping[tuple[str, str], State]
) -> dict[tuple[str, str], int]:
    """A lane for each link, so that none overlap; links of one state to one box share a lane, as a bus."""
    buses: dict[tuple[str, State], list[tuple[str, str]]] = {}
    for pair in spans:
        buses.setdefault((pair[1], states[pair]), []).append(pair)
    stretches = {}
    for bus, pairs in buses.items():
        orders = [order for pair in pairs for order in spans[pair]]
        stretches[bus] = (min(orders), max(orders))
    taken: list[list[tuple[int, int]]] = []
    lanes: dict[tuple[str, str], int] = {}
    for bus, stretch in sorted(stretches.items(), key=lambda item: (item[1][1] - item[1][0], item[1])):
        lane = next((n for n, there in enumerate(taken) if not _meets(stretch, there)), len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append(stretch)
        lanes |= dict.fromkeys(buses[bus], lane)
    return lanes


def _meets(stretch: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(stretch[0] <= end and start <= stretch[1] for start, end in others)


class ColumnLines:
    """The lines under the boxes of one column, from its notes and links; looked through once for all its boxes."""

    def __init__(self, column: StackColumn) -> None:
        names = {box.component for box in column.boxes if box.state != State.ABSENT}
        noted = {note.text for box in column.boxes for note in box.notes}
        self.has_any = bool(noted or column.links)
        self._links: dict[str, list[RequirementLink]] = {}
        for link in column.links:
            if link.text not in noted:  # a link that repeats a note is left out
                self._links.setdefault(_shown_at(link, names), []).append(link)

    def of(self, box: Box) -> tuple[BoxLine, ...]:
        """The notes and links of a box as lines."""
        links = self._links.get(box.component, [])
        if not links and not box.notes:
            return ()
        noted = [BoxLine(note.state, note.text) for note in box.notes]
        judged = [BoxLine(link.state, link.text) for link in links if link.state != State.DESCRIBED]
        return tuple(dict.fromkeys((*noted, *judged, *_demands(box, links))))


def with_lines(row: RoleRow, ends: Sequence[Mapping[str, End]], lines: Sequence[ColumnLines]) -> RoleRow:
    """The row with the lines under each box."""
    cells = tuple(
        copy_with(cell, placed=tuple(_box_with_lines(item, ends[index], lines[index]) for item in cell.placed))
        if cell.placed and lines[index].has_any
        else cell
        for index, cell in enumerate(row.cells)
    )
    return copy_with(row, cells=cells)


def _box_with_lines(placed: Placed, ends: Mapping[str, End], lines: ColumnLines) -> Placed:
    end = ends.get(placed.box.component)
    return Placed(
        placed.box,
        placed.against,
        key=end.key if end else "",
        lines=lines.of(placed.box),
        is_repeat=placed.is_repeat,
    )


def _demands(box: Box, links: Iterable[RequirementLink]) -> list[BoxLine]:
    """The requirements of a described box on one line: 2.15 needs glibc ≥ 2.28; has code for ..."""
    demands = "; ".join(link.text for link in links if link.state == State.DESCRIBED)
    release = box.requires.release if box.requires else ""
    return [BoxLine(State.DESCRIBED, f"{release} {demands}".strip())] if demands else []


def _shown_at(link: RequirementLink, names: Collection[str]) -> str:
    """The component under which a link is shown: its source, or its target if the column lacks the source."""
    return link.source_component if link.source_component in names else link.target_component


@dataclass(slots=True)
class _Cell:
    """The boxes of one role in one column: those present, and those that represent what is absent."""

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
    if elsewhere:
        return RoleCell(column=column, placed=(), missing=elsewhere)
    unfilled = next(iter(roles.get(role, _NOTHING).lacking), None)
    if unfilled is None:
        return RoleCell(column=column, placed=(), missing=gettext("not described"))
    does = gettext("done by %(name)s") % {"name": unfilled.name} if unfilled.name else gettext("none")
    return RoleCell(
        column=column,
        placed=(),
        missing=does,
        instead=unfilled.summary,
        is_gap=unfilled.is_gap,
        only_in=unfilled.name if _is_one_of_several_frameworks(unfilled.name, column) else "",
    )


def _is_one_of_several_frameworks(name: str, column: StackColumn) -> bool:
    frameworks = {box.name for box in column.boxes if box.layer == Layer.FRAMEWORK and box.state != State.ABSENT}
    return len(frameworks) > 1 and name in frameworks


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


def _empty_row(columns: Sequence[StackColumn]) -> RoleRow:
    cells = tuple(RoleCell(column=column, placed=(), missing=gettext("not described")) for column in columns)
    return RoleRow("", "", cells, differs=False)


def _placed(box: Box, components: set[str], *, is_brief: bool) -> Placed:
    if is_brief or not box.counterparts:
        return Placed(box, ())
    return Placed(box, tuple(other for other in box.counterparts if other.component in components))


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
