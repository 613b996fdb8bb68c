"""Rooflines: what bandwidth and peak rate allow at each arithmetic intensity, as lines. Pure data.

The model: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52 (4), 2009, doi:10.1145/1498765.1498785.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stackviz.draw.charts.plane import NO_DASH, PlaneLine
from stackviz.draw.colours import Hue


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A published bandwidth (B/s) and a published peak (FLOP/s or op/s) of one accelerator.

    One of the two may be None, where nobody publishes it: then the roof is a slope or a flat line alone.
    """

    key: str
    label: str
    hue: Hue
    bandwidth: float | None
    peak: float | None
    dash: int = NO_DASH

    @property
    def ridge(self) -> float | None:
        """The intensity in FLOP/B from which on the peak bounds, and no longer the bandwidth; None without both."""
        return self.peak / self.bandwidth if self.peak and self.bandwidth else None

    def reachable(self, intensity: float) -> float:
        """The most that is possible at this intensity, in FLOP/s, as far as the ceilings are known."""
        ceilings = self.peak, self.bandwidth and self.bandwidth * intensity
        return min((ceiling for ceiling in ceilings if ceiling), default=0.0)


def roof_lines(roofs: Sequence[Roof], low: float, high: float, unit: float) -> tuple[PlaneLine, ...]:
    """The roofs from one intensity to another, rates in `unit` (FLOP/s).

    Of several roofs on one slope the highest has the slope; the others begin at their ridge points.
    """
    lines = []
    for roof in roofs:
        points = tuple(_corners(roof, low, high, has_slope=roof is _highest_on_its_slope(roof, roofs)))
        scaled = tuple((x, rate / unit) for x, rate in points)
        lines.append(PlaneLine(key=roof.key, label=roof.label, hue=roof.hue, dash=roof.dash, points=scaled))
    return tuple(lines)


def _corners(roof: Roof, low: float, high: float, *, has_slope: bool) -> Iterator[tuple[float, float]]:
    """(intensity, FLOP/s) from left to right."""
    if roof.bandwidth and (has_slope or not roof.peak):
        yield low, roof.bandwidth * low
    if roof.peak:
        yield roof.ridge or low, roof.peak
        yield high, roof.peak
    elif roof.bandwidth:
        yield high, roof.bandwidth * high


def _highest_on_its_slope(roof: Roof, roofs: Iterable[Roof]) -> Roof:
    return max(
        (other for other in roofs if (other.hue, other.bandwidth) == (roof.hue, roof.bandwidth)),
        key=lambda other: other.peak or 0.0,
    )
