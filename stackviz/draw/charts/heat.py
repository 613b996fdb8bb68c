"""A heat map: the shade of a cell, and all rows at once as a Plotly figure. Pure data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.draw.charts.frame import INK, empty_figure, frame, narrower, plotly_text

LEVELS = 8  # each step is a factor of two; the last holds everything below


def heat_level(share: float) -> int:
    """The level of a share of the best: LEVELS for one, one less each time it halves, at least 1.

    >>> heat_level(1.0), heat_level(0.51), heat_level(0.5), heat_level(0.001)
    (8, 8, 7, 1)
    """
    if not share > 0:
        return 1
    halvings = math.floor(math.log2(1 / min(share, 1.0)))
    return max(LEVELS - halvings, 1)


def heat_steps() -> list[tuple[int, float, float]]:
    """The legend, the best first: (level, from, to), shares of the best; from 0 for the last."""
    steps = []
    for level in range(LEVELS, 0, -1):
        high = 0.5 ** (LEVELS - level)
        steps.append((level, 0.0 if level == 1 else high / 2, high))
    return steps


ROW_PX, HEAD_PX, FOOT_PX, RIGHT_PX = 20, 200, 8, 120  # names of columns lean into what is right of the last
FEW_COLUMNS, ROOM_PX = 12, 800  # more columns in a narrower drawing have no room for the text of their cells
MOST_LETTERS = 28  # of the name of a column, which stands aslant; a hover has all of it
STRONGEST = 0.42  # how much ink the best cell has, with text on it


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatSpot:
    """A cell that is not empty. `share` of the best in its column; `text` is written in it, `note` is for a hover."""

    row: int
    column: int
    share: float
    text: str
    note: str
    url: str = ""


def heat_figure(rows: Sequence[str], columns: Sequence[str], spots: Sequence[HeatSpot], empty: str) -> dict[str, Any]:
    """`rows`, `columns`: their names, the first row on top. Colours are logarithmic, each step of the legend equal."""
    layout = frame("", HEAD_PX + FOOT_PX + ROW_PX * max(len(rows), 1), _columns_axis(columns), _rows_axis(rows))
    layout["margin"] |= {"t": HEAD_PX, "b": FOOT_PX, "r": RIGHT_PX}
    if not spots:
        return empty_figure(layout, empty)
    cells = {(spot.row, spot.column): spot for spot in spots}
    grid = [[cells.get((row, column)) for column in range(len(columns))] for row in range(len(rows))]
    trace = {
        "type": "heatmap",
        "z": [[_halvings(cell.share) if cell else None for cell in line] for line in grid],
        "text": [[plotly_text(cell.text) if cell else "" for cell in line] for line in grid],
        "customdata": [
            [[plotly_text(rows[cell.row]), plotly_text(cell.note), cell.url] if cell else ["", "", ""] for cell in line]
            for line in grid
        ],
        "texttemplate": "%{text}",
        "textfont": {"size": 11, "color": INK},
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "zmin": -LEVELS,
        "zmax": LEVELS / STRONGEST - LEVELS,
        "showscale": False,
        "meta": {"scale": ["surface", "ink"]},
    }
    few = narrower(ROOM_PX, data={0: {"texttemplate": ""}})  # a hover has the text
    return {"data": [trace], "layout": layout, "narrower": [few] if len(columns) > FEW_COLUMNS else []}


def _halvings(share: float) -> float:
    """0 for the best, one less each time the share halves, down to the last step of the legend."""
    return max(math.log2(share), -float(LEVELS)) if share > 0 else -float(LEVELS)


def _columns_axis(columns: Sequence[str]) -> dict[str, Any]:
    short = [name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…" for name in columns]
    return _names_axis(short) | {
        "side": "top",
        "tickangle": -50,
        "ticklabeloverflow": "allow",
        "range": [-0.5, len(columns) - 0.5],
    }


def _rows_axis(rows: Sequence[str]) -> dict[str, Any]:
    return _names_axis([f"{name} " for name in rows]) | {"range": [len(rows) - 0.5, -0.5]}


def _names_axis(names: Sequence[str]) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [plotly_text(name) for name in names],
        "showgrid": False,
        "zeroline": False,
    }
