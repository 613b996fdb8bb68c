"""A heat map of shares: how dark a cell is, on a logarithmic scale. Pure data."""

import math
from dataclasses import dataclass

LEVELS = 8  # each step is a factor of two; the last holds everything below


@dataclass(frozen=True, slots=True)
class HeatStep:
    """One level of the legend: from `low` to `high`, shares of the best; `low` is 0 for the last."""

    level: int
    low: float
    high: float


def heat_level(share: float) -> int:
    """The level of a share of the best: LEVELS for one, one less each time it halves, at least 1.

    >>> heat_level(1.0), heat_level(0.51), heat_level(0.5), heat_level(0.001)
    (8, 8, 7, 1)
    """
    if not share > 0:
        return 1
    halvings = math.floor(math.log2(1 / min(share, 1.0)))
    return max(LEVELS - halvings, 1)


def heat_steps() -> tuple[HeatStep, ...]:
    """The legend, the best first."""
    steps = []
    for level in range(LEVELS, 0, -1):
        high = 0.5 ** (LEVELS - level)
        steps.append(HeatStep(level, 0.0 if level == 1 else high / 2, high))
    return tuple(steps)
