"""Coefficients that come nearest to times in relative deviation, none of them negative. Pure: standard library only."""

import math
from collections.abc import Sequence

ROUNDS = 15  # of reweighting; the coefficients stand still to four digits after ten
SMALLEST_DEVIATION = 0.03  # relative; keeps a time that is met exactly from outweighing all others


def least_deviation(scaled: Sequence[Sequence[float]], weights: Sequence[float], count: int) -> tuple[float, ...]:
    """`count` coefficients >= 0 whose sums with each row come nearest to 1, by reweighted least squares.

    `scaled`: rows of terms, each divided by the time they should add up to; `weights`: of the rows.
    """
    coefficients = [0.0] * count
    adjusted = list(weights)
    for _round in range(ROUNDS):
        coefficients = _non_negative(scaled, adjusted, count)
        for at, terms in enumerate(scaled):
            deviation = abs(sum(c * term for c, term in zip(coefficients, terms, strict=True)) - 1.0)
            adjusted[at] = weights[at] / max(deviation, SMALLEST_DEVIATION)
    return tuple(coefficients)


def _non_negative(scaled: Sequence[Sequence[float]], weights: Sequence[float], count: int) -> list[float]:
    """Weighted least squares to 1 with coefficients >= 0: those that come out negative are left out, worst first."""
    square = [
        [sum(w * terms[i] * terms[j] for w, terms in zip(weights, scaled, strict=True)) for j in range(count)]
        for i in range(count)
    ]
    right = [sum(w * terms[i] for w, terms in zip(weights, scaled, strict=True)) for i in range(count)]
    used = [i for i in range(count) if square[i][i] > 0]
    while used:
        solved = _solve([[square[i][j] for j in used] for i in used], [right[i] for i in used])
        worst = min(range(len(used)), key=solved.__getitem__)
        if solved[worst] >= 0:
            return [solved[used.index(i)] if i in used else 0.0 for i in range(count)]
        del used[worst]
    return [0.0] * count


def _solve(square: list[list[float]], right: list[float]) -> list[float]:
    """Gauss-Jordan with pivoting, after scaling; a column that depends on others gets 0."""
    size = len(right)
    scale = [math.sqrt(square[i][i]) for i in range(size)]
    rows = [[square[i][j] / scale[i] / scale[j] for j in range(size)] + [right[i] / scale[i]] for i in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        if abs(rows[column][column]) < 1e-9:  # singular
            rows[column] = [0.0] * (size + 1)
            rows[column][column] = 1.0
        _clear(rows, column)
    return [rows[i][size] / scale[i] for i in range(size)]


def _clear(rows: list[list[float]], column: int) -> None:
    """Make the column 0 in all rows but its own, where it becomes 1."""
    head = rows[column][column]
    rows[column] = [cell / head for cell in rows[column]]
    for at, row in enumerate(rows):
        if at != column and row[column]:
            rows[at] = [cell - row[column] * base for cell, base in zip(row, rows[column], strict=True)]
