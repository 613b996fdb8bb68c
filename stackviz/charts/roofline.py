"""Rooflines: what bandwidth and peak rate allow at each arithmetic intensity, as lines. Pure data.

The model: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52 (4), 2009, doi:10.1145/1498765.1498785.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackviz.charts.plane import NO_DASH, PlaneLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """A published bandwidth (B/s) and a published peak (FLOP/s or op/s) of one accelerator. `slot`: its colour."""

    key: str
    label: str
    slot: int
    bandwidth: float
    peak: float
    dash: int = NO_DASH

    @property
    def ridge(self) -> float:
        """The intensity in FLOP/B from which on the peak bounds, and no longer the bandwidth."""
        return self.peak / self.bandwidth

    def reachable(self, intensity: float) -> float:
        """The most that is possible at this intensity, in FLOP/s."""
        return min(self.peak, self.bandwidth * intensity)


def roof_lines(roofs: Sequence[Roof], low: float, high: float, unit: float) -> tuple[PlaneLine, ...]:
    """The roofs from one intensity to another, rates in `unit` (FLOP/s).

    Of several roofs on one slope the highest has the slope; the others begin at their ridge points.
    """
    lines = []
    for roof in roofs:
        flat = ((roof.ridge, roof.peak / unit), (high, roof.peak / unit))
        is_highest = roof is _highest_on_its_slope(roof, roofs)
        points = ((low, roof.bandwidth * low / unit), *flat) if is_highest else flat
        lines.append(PlaneLine(key=roof.key, label=roof.label, slot=roof.slot, dash=roof.dash, points=points))
    return tuple(lines)


def _highest_on_its_slope(roof: Roof, roofs: Iterable[Roof]) -> Roof:
    return max(
        (other for other in roofs if (other.slot, other.bandwidth) == (roof.slot, roof.bandwidth)),
        key=lambda other: other.peak,
    )
