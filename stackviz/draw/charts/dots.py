"""A row for each subject with one or two dots on a common scale, as a Plotly figure. Pure data.

The page draws the same rows as a table with rails; a hollow dot was measured by somebody else, a filled one here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.draw.charts.frame import INK_2, NARROW_PX, empty_figure, frame, narrower, plotly_text
from stackviz.draw.charts.scale import Scale
from stackviz.draw.colours import Hue

ROW_PX, HEAD_PX, FOOT_PX, FEWEST_ROWS = 26, 80, 16, 3
NARROW_ROW_PX, NARROW_TICKS = 38, 20.0  # where names stand above their rows; per cent between two ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class RailDot:
    """`row`: from 0, the first on top; `value` in the unit of the axis."""

    row: int
    value: float
    hue: Hue
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
        layout["shapes"] = [_line_across(bound)]
    most = max([*(dot.value for dot in dots), bound or 0.0])
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [dot.value for dot in dots],
        "y": [dot.row for dot in dots],
        "customdata": [[plotly_text(names[dot.row]), plotly_text(dot.note), dot.url] for dot in dots],
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        "marker": {
            "color": [dot.hue.light for dot in dots],
            "size": 10,
            "symbol": ["circle" if dot.is_filled else "circle-open" for dot in dots],
            "line": {"width": [0 if dot.is_filled else 2 for dot in dots]},
        },
        "meta": {"colours": [dot.hue.css for dot in dots]},
    }
    return {
        "data": [trace],
        "layout": layout,
        "narrower": [narrower(NARROW_PX, layout=_names_above_rows(layout, names, most))],
    }


def _line_across(bound: float) -> dict[str, Any]:
    ends = {"x0": bound, "x1": bound, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": {"color": INK_2, "width": 2}, "colours": "ink-2"}


def _names_above_rows(layout: dict[str, Any], names: Sequence[str], most: float) -> dict[str, Any]:
    """Names inside the drawing, which has no room next to them; the page's heading says what the axis is of."""
    ticks = Scale("linear", 0.0, most).ticks(NARROW_TICKS)
    notes = [
        {
            "text": plotly_text(name), "x": 0, "xref": "paper", "xanchor": "left", "y": row, "yanchor": "bottom",
            "showarrow": False, "borderpad": 0, "yshift": 1,
        }
        for row, name in enumerate(names)
    ]  # fmt: skip
    return {
        "height": HEAD_PX + NARROW_ROW_PX * max(len(names), FEWEST_ROWS),
        "margin": {**layout["margin"], "l": 8, "r": 16},
        "xaxis": {**layout["xaxis"], "title": {"text": ""}, "range": [0, most * 1.04], "tickvals": ticks},
        "yaxis": {**layout["yaxis"], "showticklabels": False, "automargin": False},
        "annotations": notes,
    }
