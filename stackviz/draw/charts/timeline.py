"""A timeline in lanes: each event at its year, in per cent, moved down a row where its label would overlap another."""

from collections.abc import Sequence
from dataclasses import dataclass

# At some 900 pixels, the width of a label in per cent: per letter, and around it.
LETTER, AROUND = 0.75, 1.8
ROOM_YEARS = 2  # right of the last year, for its labels


@dataclass(frozen=True, slots=True)
class Event:
    """An event to place. Events of one lane are given in order of their years."""

    key: str
    label: str
    year: int


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """A placed event: per cent from the left, as text for CSS, and its row in the lane, from 0."""

    key: str
    label: str
    year: int
    left: str
    row: int


@dataclass(frozen=True, slots=True)
class Lane:
    events: tuple[PlacedEvent, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lanes in the order given; `years`: with their places, from the first to the last."""

    lanes: tuple[Lane, ...]
    years: tuple[tuple[int, str], ...]


def place_timeline(lanes: Sequence[Sequence[Event]]) -> Timeline:
    """Place the lanes on one axis of years."""
    years = [event.year for lane in lanes for event in lane]
    if not years:
        return Timeline(tuple(Lane((), 0) for _lane in lanes), ())
    first, last = min(years), max(years)
    return Timeline(
        tuple(_lane(lane, first, last) for lane in lanes),
        tuple((year, _percent(_left(year, first, last))) for year in range(first, last + 1)),
    )


def _left(year: int, first: int, last: int) -> float:
    """The left edge of a year's column."""
    return (year - first) / (last - first + 1 + ROOM_YEARS) * 100


def _lane(events: Sequence[Event], first: int, last: int) -> Lane:
    ends: list[float] = []  # where the last label of each row ends
    placed = []
    for event in events:
        left = _left(event.year, first, last)
        row = next((number for number, end in enumerate(ends) if end <= left), len(ends))
        ends[row : row + 1] = [left + len(event.label) * LETTER + AROUND]
        placed.append(PlacedEvent(event.key, event.label, event.year, _percent(left), row))
    return Lane(tuple(placed), len(ends))


def _percent(value: float) -> str:
    return f"{value:.2f}"
