"""A measured rate against the published peak that bounds it. No queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackviz.records.catalog.queries import usual_peak
from stackviz.records.series.measurement import CardUsed, PeakShare, Rate
from stackviz.report.measuring import Benchmark, RateBound

PublishedPeaks = Mapping[tuple[int, str, str], float]

LINK = "pcie"
# PCI Express generation -> bytes per second of a lane one way: transfers per second after encoding, 8b/10b, then
# 128b/130b, then 242 of 256 bytes of a flit: PCI Express Base Specification 6.0.
LANE_BYTES_PER_S = {
    1: 2.5e9 / 10, 2: 5e9 / 10, 3: 8e9 / 8 * 128 / 130, 4: 16e9 / 8 * 128 / 130, 5: 32e9 / 8 * 128 / 130,
    6: 64e9 / 8 * 242 / 256,
}  # fmt: skip


def peak_share(
    rate: Rate | None, card: CardUsed | None, bounds: Sequence[RateBound], published: PublishedPeaks
) -> PeakShare | None:
    """The rate against the least that published peaks allow; None where one of them is not published, or a slice of a
    card ran.
    """
    if rate is None or card is None or card.accelerator_id is None or card.is_slice:
        return None
    shares = [_share(rate, card, bound, published) for bound in bounds]
    known = [share for share in shares if share is not None]
    return max(known, key=lambda share: share.share) if known and len(known) == len(shares) else None


def _share(rate: Rate, card: CardUsed, bound: RateBound, published: PublishedPeaks) -> PeakShare | None:
    for field in bound.fields:
        peak = _link_peak(card.facts) if field == LINK else _published_peak(published, card, field)
        if peak is not None and peak[1] > 0:
            most = peak[1] / bound.divisor
            return PeakShare(field, peak[0], most, rate.value / most)
    return None


def _published_peak(published: PublishedPeaks, card: CardUsed, field: str) -> tuple[str, float] | None:
    return None if card.accelerator_id is None else usual_peak(published, card.accelerator_id, field)


def outruns_memory(rate: Rate, cards: Sequence[CardUsed], published: PublishedPeaks) -> bool:
    """Whether more bytes crossed between cards than the memory of any of them can read, as far as that is published.

    It bounds them from far above: a share of it would say nothing of the link.
    """
    peaks = [_published_peak(published, card, "memory_bandwidth_gb_s") for card in cards]
    known = [peak[1] for peak in peaks if peak is not None]
    return bool(known) and len(known) == len(peaks) and rate.value > max(known)


def _link_peak(facts: Mapping[str, Any]) -> tuple[str, float] | None:
    """(link, bytes per second one way) of the slot, as the card states it; None where memory is shared with the host,
    or an address of the host's is the card's too, over a link that is not PCI Express.
    """
    generation, width = facts.get("pcie_generation_max"), facts.get("pcie_width_max")
    if facts.get("unified_memory") is True or facts.get("addressing_mode") == "ATS":
        return None
    if not isinstance(generation, int) or not isinstance(width, int) or generation not in LANE_BYTES_PER_S:
        return None
    return f"PCIe {generation}.0 x{width}", LANE_BYTES_PER_S[generation] * width


def bounds_of(known: Benchmark | None, params: Mapping[str, Any], conditions: Mapping[str, Any]) -> Sequence[RateBound]:
    """What bounds a run at these parameters; nothing for a benchmark this site does not know."""
    return known.bounds_of(params, tf32=conditions.get("tf32") is True) if known else ()
