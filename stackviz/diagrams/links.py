"""The requirement links of a drawing: where they end, on which lane beside the column they run, what is said of them.

Pure: no ORM, no request.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stackviz.diagrams.boxes import Box, Column, Link
from stackviz.diagrams.drawing import DrawnLink, LayerRows, Placed, Row, Said
from stackviz.diagrams.layers import State


@dataclass(frozen=True)
class End:
    """Where a linked box stands: its key, the how-manieth box of the column it is, whether its row differs."""

    key: str
    order: int
    row_differs: bool


def ends_of(place: int, column: Column, layers: Sequence[LayerRows]) -> dict[str, End]:
    """The boxes of a column that links speak of, by component; of boxes of one component the first."""
    wanted = {end for link in column.links for end in (link.source_component, link.target_component)}
    ends: dict[str, End] = {}
    shown = ((placed.box, row.differs) for layer in layers for row in layer.rows for placed in row.cells[place].placed)
    for order, (box, differs) in enumerate(shown):
        if box.component in wanted and box.component not in ends:
            ends[box.component] = End(f"c{place + 1}b{order}", order, differs)
    return ends


def drawn_links(place: int, column: Column, ends: Mapping[str, End]) -> list[DrawnLink]:
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


def _drawn_link(place: int, source: End, target: End, state: State, lane: int) -> DrawnLink:
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


def told(row: Row, ends: Sequence[Mapping[str, End]]) -> Row:
    """The row with what is written under each box."""
    cells = []
    for place, cell in enumerate(row.cells):
        names = {box.component: box.name for box in cell.column.boxes if box.state != State.ABSENT}
        placed = tuple(_told_box(one, cell.column, ends[place], names) for one in cell.placed)
        cells.append(replace(cell, placed=placed))
    return replace(row, cells=tuple(cells))


def _told_box(placed: Placed, column: Column, ends: Mapping[str, End], names: Mapping[str, str]) -> Placed:
    """Its notes, and the links that start here; a link that a note tells is not told twice."""
    box = placed.box
    noted = [Said(note.state, note.text) for note in box.notes]
    elsewhere = {note.text for other in column.boxes for note in other.notes}
    own = [link for link in column.links if box.component in _told_at(link, names) and link.text not in elsewhere]
    judged = [Said(link.state, link.text) for link in own if link.state != State.DESCRIBED]
    end = ends.get(box.component)
    says = dict.fromkeys((*noted, *judged, *_demands(box, own)))
    return replace(placed, key=end.key if end else "", says=tuple(says))


def _demands(box: Box, links: Iterable[Link]) -> list[Said]:
    """What a described box asks for, as one line: 2.15 needs glibc ≥ 2.28; has code for ..."""
    asked = "; ".join(link.text for link in links if link.state == State.DESCRIBED)
    release = box.requires.release if box.requires else ""
    return [Said(State.DESCRIBED, f"{release} {asked}".strip())] if asked else []


def _told_at(link: Link, names: Mapping[str, str]) -> tuple[str, ...]:
    """The box under which a link is told: the one that needs, or where the column has none, the one that is needed."""
    return (link.source_component,) if link.source_component in names else (link.target_component,)
