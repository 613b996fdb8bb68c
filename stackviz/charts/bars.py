"""Bars: lengths for CSS in a table, and a Plotly figure for a closer look. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.charts.frame import INK, colour, colour_name, empty_figure, frame, plotly_text
from stackviz.light import light_dataclass
from stackviz.units import Direction, format_number

# Beyond this ratio of largest to smallest, bars from zero would hide the small ones: dots on a log axis instead.
DECADES_RATIO = 100
BAR_PX, FRAME_PX, FEWEST_BARS = 34, 84, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One measured or published figure.

    `value`, `low` and `high` are in the chart's unit, low <= value <= high; both None: the interval is unknown.
    `slot`: number of the subject, from 0; it decides the colour. `note` is shown on hover.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    slot: int = 0
    note: str = ""


@light_dataclass(slots=True)
class Meter:
    """A bar in a table: percentages of the scale as text for CSS. `is_over`: the value exceeds the scale."""

    p: str
    lo: str = ""
    hi: str = ""
    is_over: bool = False

    @property
    def style(self) -> str:
        """The same as declarations of a style."""
        return f"--p:{self.p};--lo:{self.lo};--hi:{self.hi}" if self.lo else f"--p:{self.p}"


def meter(value: float, scale: float, low: float | None = None, high: float | None = None) -> Meter:
    """The bar of `value` where `scale` is the full length. The interval is drawn only if both ends are known."""
    if scale <= 0:
        return Meter("0")
    if low is None or high is None:
        return Meter(_percent(value, scale), is_over=value > scale)
    return Meter(_percent(value, scale), _percent(low, scale), _percent(high, scale), is_over=value > scale)


def _percent(value: float, scale: float) -> str:
    return f"{min(max(value / scale * 100, 0), 100):.1f}".removesuffix(".0")


def chart_height(count: int) -> int:
    """Pixels that a chart of so many bars takes: what a page keeps free for it."""
    return FRAME_PX + BAR_PX * max(count, FEWEST_BARS)


def ranked_bars(
    title: str, unit: str, bars: Sequence[Bar], better: Direction = "higher", empty: str = "no figures"
) -> dict[str, Any]:
    """A Plotly figure as JSON-ready data: best bar on top, intervals as error bars, values as text.

    `unit`: symbol of the unit of all values. Values that span decades become dots on a log axis. Bars with equal labels
    stay separate. Without bars the figure shows the text `empty`.
    """
    layout = frame(title, chart_height(len(bars)), {"title": {"text": plotly_text(unit)}}, {})
    layout["bargap"] = 0.35
    if not bars:
        return empty_figure(layout, empty)
    worst_first = sorted(bars, key=lambda bar: bar.value, reverse=better == "lower")
    spans_decades = _spans_decades([bar.value for bar in bars])
    layout["xaxis"] |= {"type": "log", "dtick": 1} if spans_decades else {"rangemode": "tozero"}
    # Positions are numbers with text labels: Plotly would otherwise merge two bars of the same name.
    layout["yaxis"] |= {
        "tickmode": "array",
        "tickvals": list(range(len(bars))),
        "ticktext": [plotly_text(bar.label) + " " for bar in worst_first],
        "showgrid": False,
        "zeroline": False,
    }
    return {"data": [{**_trace(worst_first), **(DOTS if spans_decades else BARS)}], "layout": layout}


BARS: dict[str, Any] = {"type": "bar", "orientation": "h", "textposition": "auto", "insidetextanchor": "start"}
DOTS: dict[str, Any] = {"type": "scatter", "mode": "markers+text", "textposition": "middle right"}


def _spans_decades(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) / min(values) > DECADES_RATIO


def _trace(bars: Sequence[Bar]) -> dict[str, Any]:
    """The parts that bars and dots share: positions, values, colours, intervals."""
    trace: dict[str, Any] = {
        "x": [bar.value for bar in bars],
        "y": list(range(len(bars))),
        "text": [format_number(bar.value) for bar in bars],
        "customdata": [[plotly_text(bar.label), plotly_text(bar.note)] for bar in bars],
        "hovertemplate": "%{customdata[0]}: %{text}<br>%{customdata[1]}<extra></extra>",
        "marker": {"color": [colour(bar.slot) for bar in bars]},
        "meta": {"colours": [colour_name(bar.slot) for bar in bars]},
        "cliponaxis": False,
    }
    if any(bar.low is not None and bar.high is not None for bar in bars):
        trace["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [0 if bar.high is None else max(bar.high - bar.value, 0) for bar in bars],
            "arrayminus": [0 if bar.low is None else max(bar.value - bar.low, 0) for bar in bars],
            "color": INK,
            "thickness": 1.5,
            "width": 4,
        }
    return trace
