"""A measured rate against the published peak that bounds it. No queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackviz.benchmarks.measurement import CardUsed, PeakShare, Rate
from stackviz.catalog.queries import usual_peak
from stackviz.measuring import Benchmark, RateBound

PublishedPeaks = Mapping[tuple[int, str, str], float]


def peak_share(
    rate: Rate | None, card: CardUsed | None, bounds: Sequence[RateBound], published: PublishedPeaks
) -> PeakShare | None:
    """The rate against the least that published peaks allow; None where one of them is not published, or a slice of a
    card ran.
    """
    if rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return None
    shares = [_share(rate, card.accelerator_id, bound, published) for bound in bounds]
    known = [share for share in shares if share is not None]
    return max(known, key=lambda share: share.share) if known and len(known) == len(shares) else None


def _share(rate: Rate, accelerator: int, bound: RateBound, published: PublishedPeaks) -> PeakShare | None:
    for field in bound.fields:
        peak = usual_peak(published, accelerator, field)
        if peak is not None and peak[1] > 0:
            most = peak[1] / bound.divisor
            return PeakShare(field, peak[0], most, rate.value / most)
    return None


def bounds_of(known: Benchmark | None, params: Mapping[str, Any], conditions: Mapping[str, Any]) -> Sequence[RateBound]:
    """What bounds a run at these parameters; nothing for a benchmark this site does not know."""
    return known.bounds_of(params, tf32=conditions.get("tf32") is True) if known else ()
