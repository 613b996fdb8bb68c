"""What bounds a result of a public host, and the share it reached: one answer for every page. No queries."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from stackviz.records.catalog.queries import peaks
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH
from stackviz.records.cited.best import phase_of
from stackviz.records.cited.bounds import weights_bytes, weights_of_name
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import BoundShare, Published, share_of_bound
from stackviz.records.cited.words import share_text

__all__ = ["host_bound", "host_share_text", "peaks_of_results"]

_HELPS = frozenset({"speculative", "concurrency", "batch"})  # a token costs less than reading all weights
_EFFECTIVE = re.compile(r"\be\d+b\b", re.IGNORECASE)  # `gemma4:e4b`: not what the file holds


def peaks_of_results(results: Iterable[CitedResult]) -> dict[int, Published]:
    """Return the published peaks of each accelerator that has a result, by its primary key."""
    return {pk: peaks([pk]) for pk in {result.accelerator_id for result in results if result.accelerator_id}}


def host_bound(result: CitedResult, published: Mapping[int, Published]) -> BoundShare | None:
    """Return the published peak that bounds the result, and the share reached; None where nothing known bounds it.

    `published`: the peaks of its accelerator. Decoding on one card reads all weights for each token: their size is that
    of the file where it is stated, else the least that the names of model and format come to.
    """
    if result.accelerator_id is None:
        return None
    bound = share_of_bound(result, published.get(result.accelerator_id, {}))
    if bound is None or bound.share is not None or bound.field not in MEMORY_BANDWIDTH:
        return bound
    share = result.amount * _weights_read(result) / bound.peak
    return replace(bound, share=share) if 0 < share <= 1 else bound


def host_share_text(result: CitedResult, published: Mapping[int, Published]) -> str:
    """Return the share of its bound that the result reached, `71 %`; "" where that is not known."""
    bound = host_bound(result, published)
    return share_text(bound.share) if bound and bound.share else ""


def _weights_read(result: CitedResult) -> float:
    """Return the bytes that one card reads for a token; 0 where not known, or where read for several tokens at once."""
    is_plain = result.count == 1 and _HELPS.isdisjoint(result.params)
    if not is_plain or phase_of(result.benchmark, result.params) != "decode":
        return 0
    stated = weights_bytes(result.params) or result.params.get("weights_bytes")
    if isinstance(stated, int | float) and stated:
        return stated
    is_effective = _EFFECTIVE.search(str(result.params.get("model", "")))
    return 0 if is_effective else weights_of_name(result.params) or 0
