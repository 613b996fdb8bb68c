"""A measured rate against the published peak that bounds it. No queries."""

from collections.abc import Mapping
from typing import Any

from stackviz.benchmarks.measurement import CardUsed, PeakShare, Rate
from stackviz.catalog.queries import usual_peak
from stackviz.measuring import Benchmark

PublishedPeaks = Mapping[tuple[int, str, str], float]


def peak_share(
    rate: Rate | None, card: CardUsed | None, fields: tuple[str, ...], published: PublishedPeaks
) -> PeakShare | None:
    """The rate against the published peak of the same type; None where none is published, or a slice of a card ran."""
    if rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return None
    for field in fields:
        peak = usual_peak(published, card.accelerator_id, field)
        if peak is not None and peak[1] > 0:
            return PeakShare(field, peak[0], peak[1], rate.value / peak[1])
    return None


def bounding_fields(
    known: Benchmark | None, params: Mapping[str, Any], conditions: Mapping[str, Any]
) -> tuple[str, ...]:
    """Catalogue fields that bound a run at these parameters; () for a benchmark this site does not know."""
    return known.bounding_fields(params, tf32=conditions.get("tf32") is True) if known else ()
