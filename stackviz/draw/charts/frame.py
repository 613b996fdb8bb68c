"""What all Plotly figures share: margins, colours, escaping. Pure data.

The colours of compared subjects stand in the order in which they are given out: the light ones of --s1..--s6 in
static/css/tokens.css. Any two can be told apart with normal sight, protanopia, deuteranopia and tritanopia, on light
and on dark; tests/draw/charts/test_frame.py measures it. A figure names its colours ("s1"), and static/js/charts.js
replaces the light ones by those of the reader's theme.
"""

import html
from typing import Any

LIGHT = ("#1f5ac1", "#a8560c", "#049a8c", "#64106f", "#b38912", "#4d4e56")
NARROW_PX, MIDDLE_PX = 608, 1068  # widths of a drawing where static/css/plane.css leaves out names: a phone, a tablet
INK, INK_2, LINE = "#1b1e23", "#565c66", "#e2e2dd"


def colour_name(slot: int) -> str:
    """The CSS token of this slot, counted from 0; the seventh reuses the first."""
    return f"s{slot % len(LIGHT) + 1}"


def colour(slot: int) -> str:
    """The light colour of this slot, counted from 0."""
    return LIGHT[slot % len(LIGHT)]


def frame(title: str, height: int, xaxis: dict[str, Any], yaxis: dict[str, Any]) -> dict[str, Any]:
    """A Plotly layout without a background, `height` in pixels, with these two axes."""
    lines = {"gridcolor": LINE, "zerolinecolor": LINE}
    return {
        "title": {"text": plotly_text(title), "font": {"size": 14, "color": INK}, "x": 0, "xanchor": "left"},
        "height": height,
        "margin": {"l": 8, "r": 56, "t": 40, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": INK_2},
        "showlegend": False,
        "xaxis": {**lines, **xaxis},
        "yaxis": {**lines, "automargin": True, **yaxis},
    }


def narrower(
    up_to_px: int, *, layout: dict[str, Any] | None = None, data: dict[int, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """What a figure has instead where its drawing is at most so wide: parts of the layout, of traces by their number.

    A figure lists such parts under "narrower", the narrowest first; static/js/charts.js takes the first that applies.
    """
    return {"up_to": up_to_px, "layout": layout or {}, "data": {str(at): trace for at, trace in (data or {}).items()}}


def empty_figure(layout: dict[str, Any], text: str) -> dict[str, Any]:
    """A figure without data that shows `text`."""
    annotation = {"text": plotly_text(text), "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    return {"data": [], "layout": {**layout, "annotations": [annotation]}}


def plotly_text(text: str) -> str:
    """`text` escaped for Plotly, which renders tags and links; a name may come from a hostile report."""
    return html.escape(text, quote=False)
