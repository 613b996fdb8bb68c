"""What a tool read of a card over minutes, as small stepped areas, plain data for SVG. No ORM, no request."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

__all__ = ["ReadingsLane", "readings_lane"]

WIDTH, HEIGHT = 600, 40
_EDGE = 2
MOST_STEPS = 200  # across: three pixels each


@dataclass(frozen=True, slots=True)
class ReadingsLane:
    """`areas`: points of polygons from the floor up, broken where nothing was read."""

    areas: tuple[str, ...]
    width: int = WIDTH
    height: int = HEIGHT


def readings_lane(values: Sequence[float | None], most: float) -> ReadingsLane | None:
    """Each reading as wide as the next, `most` at the top; of many the mean of neighbours. None without any value."""
    steps = _thinned(values)
    if most <= 0 or all(value is None for value in steps):
        return None
    wide = WIDTH / len(steps)
    areas = []
    for is_read, run in groupby(enumerate(steps), key=lambda step: step[1] is not None):
        if is_read:
            areas.append(_area([(step, value or 0.0) for step, value in run], wide, most))
    return ReadingsLane(tuple(areas))


def _thinned(values: Sequence[float | None]) -> list[float | None]:
    size = -(-len(values) // MOST_STEPS) or 1
    parts = [[value for value in values[at : at + size] if value is not None] for at in range(0, len(values), size)]
    return [fmean(part) if part else None for part in parts]


def _area(steps: Sequence[tuple[int, float]], wide: float, most: float) -> str:
    """`0,40 0,2 3,2 3,31 6,31 6,40`: two corners for each reading, and the floor."""
    corners = [f"{round(steps[0][0] * wide)},{HEIGHT}"]
    for step, value in steps:
        y = round(HEIGHT - (HEIGHT - _EDGE) * min(max(value / most, 0.0), 1.0))
        corners += [f"{round(step * wide)},{y}", f"{round((step + 1) * wide)},{y}"]
    return " ".join([*corners, f"{round((steps[-1][0] + 1) * wide)},{HEIGHT}"])
