"""Results as a Plotly figure: the same bars on a machine's page and in a comparison. Pure data, no database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.benchmarks.measurement import Measurement
from stackviz.charts.bars import Bar, ranked_bars
from stackviz.units import format_quantity, from_si, unit


@dataclass(frozen=True, slots=True)
class Charted:
    """One result with its words and the slot, from 0, that decides its colour."""

    label: str
    slot: int
    result: Measurement


def results_figure(title: str, charted: Sequence[Charted]) -> dict[str, Any]:
    """Bars in the printed unit the largest reads best in; results without a rate are left out."""
    rated = [(item, item.result.rate) for item in charted if item.result.rate]
    if not rated:
        return ranked_bars(title, "", [])
    symbol = chart_unit(rated[0][1].unit, max(rate.value for _item, rate in rated))
    bars = [
        Bar(
            label=item.label,
            value=from_si(rate.value, symbol),
            low=None if rate.low is None else from_si(rate.low, symbol),
            high=None if rate.high is None else from_si(rate.high, symbol),
            slot=item.slot,
            note="; ".join(item.result.remarks),
        )
        for item, rate in rated
    ]
    return ranked_bars(title, symbol, bars)


def chart_unit(si: str, largest: float) -> str:
    """The printed unit in which the largest figure reads best: TFLOP/s for 7.8e14 FLOP/s."""
    shown = format_quantity(largest, si).unit
    try:
        return unit(shown).symbol
    except KeyError:  # printed with a sign of its own, such as µs
        return si
