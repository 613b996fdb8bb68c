"""Dots at one value of x moved apart sideways where they would cover each other. Pure data."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

STEP_PX = 4
MOST_STEPS = 6  # to either side: further away a dot would stand at another value
COVERED = 0.8  # of the two radii: dots nearer than this hide each other
SHIFTS = (0.0, *(float(side * step * STEP_PX) for step in range(1, MOST_STEPS + 1) for side in (1, -1)))  # 0, 4, -4, 8


@dataclass(frozen=True, slots=True)
class Disc:
    """A dot in pixels of the wide drawing."""

    x: float
    y: float
    radius: float


def dodge(discs: Sequence[Disc]) -> list[float]:
    """How far each is moved to the right, in pixels; the first of a column stay, later ones step aside for them."""
    reach = 2 * COVERED * max((disc.radius for disc in discs), default=1.0)  # further apart no two cover each other
    placed: dict[tuple[float, int], list[Disc]] = defaultdict(list)  # by column, and band of that height
    moved = []
    for disc in discs:
        column, band = round(disc.x, 1), math.floor(disc.y / reach)
        near = [other for each in (band - 1, band, band + 1) for other in placed.get((column, each), ())]
        shift = next((shift for shift in SHIFTS if _is_free(disc, shift, near)), 0.0)
        placed[column, band].append(Disc(disc.x + shift, disc.y, disc.radius))
        moved.append(shift)
    return moved


def _is_free(disc: Disc, shift: float, near: Sequence[Disc]) -> bool:
    return all(
        math.hypot(disc.x + shift - other.x, disc.y - other.y) >= COVERED * (disc.radius + other.radius)
        for other in near
    )
