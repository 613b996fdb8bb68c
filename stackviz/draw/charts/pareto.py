"""The Pareto front of points: those that no other point beats in both directions. Pure data."""

from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]


def pareto_front(points: Sequence[Point], *, more_x: bool, more_y: bool) -> list[int]:
    """Indices of the points on the front, from the smallest x. Equal points are on it together.

    `more_x`, `more_y`: whether more is better in that direction. A point is off the front if another is at least as
    good in both directions and better in one.
    """
    x_sign, y_sign = (1 if more_x else -1), (1 if more_y else -1)
    best_first = sorted(range(len(points)), key=lambda i: (-x_sign * points[i][0], -y_sign * points[i][1]))
    front: list[int] = []
    for index in best_first:
        x, y = points[index]
        if not front or y_sign * y > y_sign * points[front[-1]][1] or (x, y) == points[front[-1]]:
            front.append(index)
    return sorted(front, key=lambda index: points[index])


def front_line(points: Sequence[Point], *, more_x: bool) -> list[tuple[Point, Point]]:
    """The front as a staircase of straight pieces: how much of y there is for each x. `points`: by x."""
    pieces: list[tuple[Point, Point]] = []
    for (x1, y1), (x2, y2) in pairwise(dict.fromkeys(points)):
        corner = (x1, y2) if more_x else (x2, y1)
        pieces += [((x1, y1), corner), (corner, (x2, y2))]
    return pieces
