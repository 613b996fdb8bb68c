"""What all Plotly figures share: margins, colours of ink and lines, escaping. Pure data."""

import html
from typing import Any

from stackviz.charts.palette import INK, INK_2, LINE


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


def empty_figure(layout: dict[str, Any], text: str) -> dict[str, Any]:
    """A figure without data that shows `text`."""
    annotation = {"text": plotly_text(text), "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    return {"data": [], "layout": {**layout, "annotations": [annotation]}}


def plotly_text(text: str) -> str:
    """`text` escaped for Plotly, which renders tags and links; a name may come from a hostile report."""
    return html.escape(text, quote=False)
