"""Results as lines for a terminal: rate, interval, share of the peak, and the change against the last run."""

import statistics
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stackviz.agent.benchmarks.cases import params_text
from stackviz.agent.measured import LastRun, MeasuredRate, measured_rate, stated_peak
from stackviz.agent.terminal_json import printable
from stackviz.base.units import format_quantity
from stackviz.report.format import Report, Result

__all__ = ["RateChange", "rate_changes", "regressions", "result_line", "result_lines"]


def result_lines(report: Report, last: LastRun | None = None) -> Iterator[str]:
    cards = {card.index: card for card in report.cards}
    for result in report.results:
        card = None if result.card is None else cards.get(result.card)
        yield result_line(result, stated_peak(result, card), None if last is None else last.rate(result))


def result_line(result: Result, peak: float | None = None, before: float | None = None) -> str:
    """`gemm fp32 2048 on cpu: 130 GFLOP/s ±1.2 %, 132 ms, 12 samples in 3 rounds; 1.02 times the last run`"""
    name = printable(f"{result.benchmark} {params_text(result.params)} on {result.device}")  # of a file, maybe
    if not result.samples:
        return f"{name}: {result.state}, {result.reason}"
    state = "" if result.state == "ok" else f"; {result.state}: {result.reason}"
    rate = measured_rate(result)
    if rate is None:
        middle = format_quantity(statistics.median(result.samples), result.unit).label
        return f"{name}: median {middle}, {_samples(result)}{state}"
    shown = [format_quantity(rate.value, rate.unit).label + _spread(rate)]
    if peak:
        shown.append(f"{rate.value / peak:.0%} of {format_quantity(peak, rate.unit).label} by clock and bus")
    if result.unit == "s" and rate.unit != "s":
        shown.append(format_quantity(statistics.median(result.samples), "s").label)
    change = f"; {_change(rate, before)}" if before else ""
    doubt = f"; cannot tell: {rate.why_uncertain}" if rate.why_uncertain else ""
    return f"{name}: {', '.join([*shown, _samples(result)])}{change}{doubt}{state}"


def _samples(result: Result) -> str:
    rounds = len(set(result.rounds))
    text = f"{len(result.samples)} sample{'s' if len(result.samples) > 1 else ''}"
    return f"{text} in {rounds} round{'s' if rounds > 1 else ''}" if rounds else text


def _spread(rate: MeasuredRate) -> str:
    """Half the interval; it is not symmetric."""
    if rate.low is None or rate.high is None:
        return ""
    return f" ±{(rate.high - rate.low) / 2 / rate.value * 100:.2g} %"


def _change(rate: MeasuredRate, before: float) -> str:
    return f"{rate.value / before:.3g} times the last run"


def _speed_ratio(rate: MeasuredRate, before: float) -> float:
    """Above 1: faster than before. Times are shorter then."""
    return before / rate.value if rate.unit == "s" else rate.value / before


class RateChange(NamedTuple):
    """A result with its rate, and that of the last run in the same unit."""

    result: Result
    rate: MeasuredRate
    before: float


def rate_changes(report: Report, last: LastRun) -> list[RateChange]:
    """Of the results that the last run had too; of none that failed, is noisy or was disturbed."""
    rates = [(result, measured_rate(result), last.rate(result)) for result in report.results]
    return [
        RateChange(result, rate, before)
        for result, rate, before in rates
        if result.state == "ok" and rate is not None and before and not rate.why_uncertain
    ]


def regressions(changes: Iterable[RateChange], least: float) -> list[str]:
    """Lines of those that are slower than `least` times the last run."""
    slower = []
    for result, rate, before in changes:
        if _speed_ratio(rate, before) < least:
            what = "less accurate" if rate.unit == "bit" else "slower"
            slower.append(f"{what} than {least:g} times the last run: {result_line(result, before=before)}")
    return slower
