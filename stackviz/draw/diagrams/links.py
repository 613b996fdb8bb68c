"""The requirement links of a drawing: their ends, their lanes beside the column, and the lines under the boxes.

Pure: no ORM, no request.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stackviz.draw.diagrams.boxes import Box, RequirementLink, StackColumn, copy_with
from stackviz.draw.diagrams.drawing import BoxLine, DrawnLink, LayerRows, Placed, RoleRow
from stackviz.draw.diagrams.layers import State


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
