"""A measured rate against the published peak that bounds it. No queries."""

from collections.abc import Mapping
from typing import Any

from stackviz.benchmarks.measurement import CardUsed, PeakShare, Rate
from stackviz.catalog.queries import usual_peak
from stackviz.measuring import Benchmark, RateBound

PublishedPeaks = Mapping[tuple[int, str, str], float]


def peak_share(
    rate: Rate | None, card: CardUsed | None, bound: RateBound, published: PublishedPeaks
) -> PeakShare | None:
    """The rate against what the published peak allows; None where none is published, or a slice of a card ran."""
    if rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return None
    for field in bound.fields:
        peak = usual_peak(published, card.accelerator_id, field)
        if peak is not None and peak[1] > 0:
            most = peak[1] / bound.divisor
            return PeakShare(field, peak[0], most, rate.value / most)
    return None


def bound_of(known: Benchmark | None, params: Mapping[str, Any], conditions: Mapping[str, Any]) -> RateBound:
    """What bounds a run at these parameters; nothing for a benchmark this site does not know."""
    return known.bound(params, tf32=conditions.get("tf32") is True) if known else RateBound()
