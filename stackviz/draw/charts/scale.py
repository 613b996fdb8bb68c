"""A linear or logarithmic scale from figures to per cent of a drawing, with round ticks. Pure data."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

ScaleKind = Literal["log", "linear", "year"]
MOST_TICKS = 8
# Beyond this ratio of largest to smallest, bars from zero would hide the small ones: a log axis instead.
DECADES_RATIO = 100


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` at 0 per cent to `high` at 100. A logarithmic one has `low` above zero."""

    kind: ScaleKind
    low: float
    high: float

    def percent(self, value: float) -> float:
        """The position of `value`, from 0 to 100; values beyond an end are clamped to it."""
        if self.kind == "log":
            share = (math.log10(value) - math.log10(self.low)) / self._decades if value > 0 else 0.0
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0) * 100

    def position(self, value: float) -> float:
        """`percent` to a tenth: what a style or an attribute of a drawing holds."""
        return round(self.percent(value), 1)

    def position_from_top(self, value: float) -> float:
        """The same on an axis that runs upwards."""
        return round(100 - self.percent(value), 1)

    @property
    def _decades(self) -> float:
        return math.log10(self.high) - math.log10(self.low)

    def ticks(self, apart: float = 100 / MOST_TICKS) -> list[float]:
        """Round values inside the scale, smallest first, at least `apart` per cent from one another."""
        make = {"log": _log_ticks, "linear": _linear_ticks, "year": _year_ticks}[self.kind]
        ticks: list[float] = []
        for ticks in make(self.low, self.high):
            positions = [self.percent(tick) for tick in ticks]
            if all(after - before >= apart for before, after in pairwise(positions)):
                return ticks
        return ticks


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick of an axis, in per cent from the left or from the top."""

    at: float
    label: str


def spans_decades(values: Iterable[float], ratio: float = DECADES_RATIO) -> bool:
    """Whether a linear scale would hide the small values: the largest is more than `ratio` times the smallest."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) / min(positive) > ratio


def scale_for(values: Iterable[float], kind: ScaleKind, *, margin: float = 0.0) -> Scale:
    """A scale that holds all values. A linear one starts at zero; on a logarithmic one, values <= 0 are at its low end.

    One of years has whole years at its ends.

    `margin`: free space at both ends, as a share.
    """
    values = list(values)
    if kind == "log":
        above = [value for value in values if value > 0] or [1.0]
        low, high = min(above), max(above)
        if low == high:
            return Scale("log", low / 2, high * 2)
        room = (high / low) ** margin
        return Scale("log", low / room, high * room)
    if kind == "year":
        return Scale("year", math.floor(min(values, default=0.0)), math.floor(max(values, default=0.0)) + 1.0)
    high = max(values, default=0.0) or 1.0
    return Scale("linear", 0.0, high * (1 + margin))


def bar_scale(values: Iterable[float], kind: ScaleKind) -> Scale:
    """A scale for bar lengths: a logarithmic one starts at a power of ten."""
    scale = scale_for(values, kind)
    if kind == "linear":
        return scale
    return Scale("log", 10.0 ** math.floor(math.log10(scale.low)), scale.high)


def _linear_ticks(low: float, high: float) -> Iterator[list[float]]:
    """Sets of ticks, from the densest to the sparsest."""
    for number in range(MOST_TICKS, 1, -1):
        step = round_step((high - low) / number)
        first = math.ceil(low / step)
        yield [index * step for index in range(first, math.floor(high / step * (1 + 1e-9)) + 1)]


def _year_ticks(low: float, high: float) -> Iterator[list[float]]:
    """Every year, every second, fifth, tenth."""
    for every in (1, 2, 5, 10):
        yield [float(year) for year in range(math.ceil(low), math.floor(high) + 1) if year % every == 0]


def _log_ticks(low: float, high: float) -> Iterator[list[float]]:
    """Sets of ticks, from the densest to the sparsest: 1, 2, 5, 10; 1, 3, 10; 1, 10; then every second, third power."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for mantissas, every in (((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 3)):
        ticks = [number * 10.0**power for power in powers if power % every == 0 for number in mantissas]
        yield [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))
