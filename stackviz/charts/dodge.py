"""Dots at one value of x moved apart sideways where they would cover each other. Pure data."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

STEP_PX = 4
MOST_STEPS = 6  # to either side: further away a dot would stand at another value
COVERED = 0.8  # of the two radii: dots nearer than this hide each other


@dataclass(frozen=True, slots=True)
class Disc:
    """A dot in pixels of the wide drawing."""

    x: float
    y: float
    radius: float


def dodge(discs: Sequence[Disc]) -> list[float]:
    """How far each is moved to the right, in pixels; the first of a column stay, later ones step aside for them."""
    columns: dict[float, list[Disc]] = defaultdict(list)
    moved = []
    for disc in discs:
        column = columns[round(disc.x, 1)]
        shift = next((shift for shift in _shifts() if _is_free(disc, shift, column)), 0.0)
        column.append(Disc(disc.x + shift, disc.y, disc.radius))
        moved.append(shift)
    return moved


def _shifts() -> list[float]:
    """0, 4, -4, 8, -8, ..."""
    return [0.0, *(float(side * step * STEP_PX) for step in range(1, MOST_STEPS + 1) for side in (1, -1))]


def _is_free(disc: Disc, shift: float, column: Sequence[Disc]) -> bool:
    return all(
        math.hypot(disc.x + shift - other.x, disc.y - other.y) >= COVERED * (disc.radius + other.radius)
        for other in column
    )
