"""What all Plotly figures share: margins, colours, escaping. Pure data.

A figure has the light colours of draw/colours.py and names them, tokens as "ink-2", hues by their classes ("v-amd
v-b"); static/js/charts.js replaces them by those of the reader's theme.
"""

import html
from typing import Any

from stackviz.draw import colours

NARROW_PX, MIDDLE_PX = 608, 1068  # widths of a drawing where static/css/plane.css leaves out names: a phone, a tablet
INK, INK_2, LINE = colours.INK.light, colours.INK_2.light, colours.LINE.light


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
