"""A row for each subject with one or two dots on a common scale, as a Plotly figure. Pure data.

The page draws the same rows as a table with rails; a hollow dot was measured by somebody else, a filled one here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.charts.frame import INK_2, colour, colour_name, empty_figure, frame, plotly_text

ROW_PX, HEAD_PX, FOOT_PX, FEWEST_ROWS = 26, 80, 16, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RailDot:
    """`row`: from 0, the first on top; `value` in the unit of the axis."""

    row: int
    value: float
    slot: int
    is_filled: bool = False
    note: str = ""
    url: str = ""


def rail_figure(
    axis: str, names: Sequence[str], dots: Sequence[RailDot], empty: str, *, bound: float | None = None
) -> dict[str, Any]:
    """`names`: of the rows, the first on top, where the axis is; it begins at zero. `bound`: a line across all rows."""
    title = {"title": {"text": plotly_text(axis)}, "rangemode": "tozero", "side": "top"}
    layout = frame("", HEAD_PX + ROW_PX * max(len(names), FEWEST_ROWS), title, {})
    layout["margin"] |= {"t": HEAD_PX - FOOT_PX, "b": FOOT_PX}
    layout["hovermode"] = "closest"
    if not dots:
        return empty_figure(layout, empty)
    layout["yaxis"] |= {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [plotly_text(name) + " " for name in names],
        "range": [len(names) - 0.5, -0.5],
        "zeroline": False,
    }
    if bound is not None:
        ends = {"x0": bound, "x1": bound, "y0": 0, "y1": 1, "yref": "paper"}
        layout["shapes"] = [{"type": "line", **ends, "line": {"color": INK_2, "width": 2}, "colours": "ink-2"}]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [dot.value for dot in dots],
        "y": [dot.row for dot in dots],
        "customdata": [[plotly_text(names[dot.row]), plotly_text(dot.note), dot.url] for dot in dots],
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        "marker": {
            "color": [colour(dot.slot) for dot in dots],
            "size": 10,
            "symbol": ["circle" if dot.is_filled else "circle-open" for dot in dots],
            "line": {"width": 2},
        },
        "meta": {"colours": [colour_name(dot.slot) for dot in dots]},
    }
    return {"data": [trace], "layout": layout}
