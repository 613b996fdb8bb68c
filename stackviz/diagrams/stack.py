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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext

from stackviz.diagrams.boxes import Box, Column, Counterpart, Link
from stackviz.diagrams.layers import Layer, State, role_title


@dataclass(frozen=True)
class Said:
    """A line under a box: what a rule says of it, or what it needs. `target`: the name of the box it is about."""

    state: State
    text: str
    target: str = ""
    url: str = ""


@dataclass(frozen=True)
class Placed:
    """A box in its cell, with the counterparts that stand in the same row of this drawing.

    `key` names the end of a link, "" for a box without one; `says` is all that is written under the box.
    """

    box: Box
    against: tuple[Counterpart, ...]
    key: str = ""
    says: tuple[Said, ...] = ()


@dataclass(frozen=True)
class DrawnLink:
    """A link as a bracket beside its column: between two boxes, on a lane of its own or that of the like.

    `top` and `bottom` are keys of boxes; the arrow points to the bottom one, or with `is_up` to the top one.
    `differs`: both ends stand in rows that differ, so that the folded view shows it too.
    """

    column: int
    top: str
    bottom: str
    is_up: bool
    lane: int
    state: State
    differs: bool


@dataclass(frozen=True)
class Cell:
    """One column's part of a row. Without boxes, `missing` says so and `instead` what to know, if anything.

    `is_gap`: the column has nothing that does this job, where another has; what it has in another row is no gap.
    """

    column: Column
    number: int
    placed: tuple[Placed, ...]
    missing: str = ""
    instead: str = ""
    is_gap: bool = False


@dataclass(frozen=True)
class Row:
    """One role across all columns. `differs`: the columns do not say the same here.

    `is_alike`: they say the very same, so that on a narrow screen one cell stands for all.
    """

    role: str
    title: str
    cells: tuple[Cell, ...]
    differs: bool

    @property
    def is_alike(self) -> bool:
        shown = {
            tuple((placed.box.component, placed.box.version, placed.box.state, placed.says) for placed in cell.placed)
            for cell in self.cells
        }
        return len(self.cells) > 1 and len(shown) == 1


@dataclass(frozen=True)
class LayerRows:
    """One layer with its rows, at least one. `same`: names of what is equal in all columns, for the folded view."""

    layer: Layer
    title: str
    rows: tuple[Row, ...]
    differing: tuple[Row, ...]
    same: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return bool(self.differing)


@dataclass(frozen=True)
class Drawing:
    """A whole diagram, ready to be written down by `diagrams/_stack.html`. `lanes`: how many each column has."""

    columns: tuple[Column, ...]
    layers: tuple[LayerRows, ...]
    links: tuple[DrawnLink, ...] = ()
    lanes: tuple[int, ...] = ()

    @property
    def row_count(self) -> int:
        return sum(len(layer.rows) for layer in self.layers)

    @property
    def differing_count(self) -> int:
        return sum(len(layer.differing) for layer in self.layers)


def draw_columns(columns: Sequence[Column]) -> Drawing:
    """Lay the columns side by side. Any number of columns, none included, gives eight layers."""
    layers = [_layer(layer, columns) for layer in Layer]
    ends = [_ends(place, column, layers) for place, column in enumerate(columns)]
    links = tuple(link for place, column in enumerate(columns) for link in _drawn_links(place, column, ends[place]))
    lanes = [max((link.lane + 1 for link in links if link.column == place), default=0) for place in range(len(columns))]
    told = [replace(layer, rows=tuple(_told(row, ends) for row in layer.rows)) for layer in layers]
    told = [replace(layer, differing=tuple(row for row in layer.rows if row.differs)) for layer in told]
    return Drawing(tuple(columns), tuple(told), links, tuple(lanes))


# --- links ---


@dataclass(frozen=True)
class _End:
    """Where a linked box stands: its key, the how-manieth box of the column it is, whether its row differs."""

    key: str
    order: int
    row_differs: bool


def _ends(place: int, column: Column, layers: Sequence[LayerRows]) -> dict[str, _End]:
    """The boxes of a column that links speak of, by component; of boxes of one component the first."""
    wanted = {end for link in column.links for end in (link.source_component, link.target_component)}
    ends: dict[str, _End] = {}
    shown = ((placed.box, row.differs) for layer in layers for row in layer.rows for placed in row.cells[place].placed)
    for order, (box, differs) in enumerate(shown):
        if box.component in wanted and box.component not in ends:
            ends[box.component] = _End(f"c{place + 1}b{order}", order, differs)
    return ends


def _drawn_links(place: int, column: Column, ends: Mapping[str, _End]) -> list[DrawnLink]:
    """One bracket for each pair of boxes, the worst that is said of the two."""
    worst: dict[tuple[str, str], State] = {}
    for link in column.links:
        pair = (link.source_component, link.target_component)
        if pair[0] != pair[1] and pair[0] in ends and pair[1] in ends:
            worst[pair] = max(worst.get(pair, link.state), link.state, key=_ALARM.index)
    lanes = _lanes({pair: (ends[pair[0]].order, ends[pair[1]].order) for pair in worst}, worst)
    return [_drawn_link(place, ends[pair[0]], ends[pair[1]], state, lanes[pair]) for pair, state in worst.items()]


# From the least to the most telling.
_ALARM = (State.DESCRIBED, State.REPORTED, State.ABSENT, State.FITS, State.UNKNOWN, State.WARNING, State.BROKEN)


def _drawn_link(place: int, source: _End, target: _End, state: State, lane: int) -> DrawnLink:
    top, bottom = sorted((source, target), key=lambda end: end.order)
    return DrawnLink(
        column=place,
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
    """A lane for each link, so that no two lie on each other; those of one state to one box share one, as a bus."""
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


def _told(row: Row, ends: Sequence[Mapping[str, _End]]) -> Row:
    """The row with what is written under each box."""
    cells = []
    for place, cell in enumerate(row.cells):
        names = {box.component: box.name for box in cell.column.boxes if box.state != State.ABSENT}
        placed = tuple(_told_box(one, cell.column, ends[place], names) for one in cell.placed)
        cells.append(replace(cell, placed=placed))
    return replace(row, cells=tuple(cells))


def _told_box(placed: Placed, column: Column, ends: Mapping[str, _End], names: Mapping[str, str]) -> Placed:
    """Its notes, and the links that start here; a link that a note tells is not told twice."""
    box = placed.box
    own = [link for link in column.links if box.component in _told_at(link, names)]
    target = {link.text: names.get(link.target_component, "") for link in own}
    noted = [Said(note.state, note.text, target.get(note.text, "")) for note in box.notes]
    elsewhere = {note.text for other in column.boxes for note in other.notes}
    linked = [Said(link.state, link.text, target[link.text], link.url) for link in own if link.text not in elsewhere]
    end = ends.get(box.component)
    return replace(placed, key=end.key if end else "", says=tuple(dict.fromkeys((*noted, *linked))))


def _told_at(link: Link, names: Mapping[str, str]) -> tuple[str, ...]:
    """The box under which a link is told: the one that needs, or where the column has none, the one that is needed."""
    return (link.source_component,) if link.source_component in names else (link.target_component,)


# --- rows ---


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
            cells.append(Cell(column, number, tuple(_place(box, components) for box in here)))
        else:
            elsewhere = _elsewhere(own[place], components)
            instead = _instead(lacks, role, components)
            cells.append(Cell(column, number, (), elsewhere or _no_counterpart(named), instead, is_gap=not elsewhere))
    return Row(role, role_title(role), tuple(cells), _differs(present))


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
        Cell(column, column.number or place, (), gettext("nothing described"))
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
