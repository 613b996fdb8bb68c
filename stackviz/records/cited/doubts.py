"""What makes a cited result doubtful, found by arithmetic over all of them: impossible, far too slow, or unexplained.

    doubts([result, ...])    a reason for each doubtful one, by its index

A reason is stored with the result and shown wherever it is listed; a doubtful result neither ranks nor enters a mean.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from stackviz.base.units import UNITS
from stackviz.records.catalog.queries import usual_peak
from stackviz.records.cited.benchmark import MEMORY_BANDWIDTH
from stackviz.records.cited.bounds import weights_of_name
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.parameters import pairs_text
from stackviz.records.cited.queries import Published, above_bound, peaks_by_accelerator, share_of_bound
from stackviz.records.cited.registry import CITED_BENCHMARKS

ABOVE_THE_PEAK = "above the published peak"  # as the curated files write it
FAR_TOO_SLOW = "under a quarter of its bound, and under half of what others reach on this accelerator"
LOST_PARAMETER = "equal parameters, yet figures of this source differ by over 1.5 times: a parameter is missing"
REASONS = (ABOVE_THE_PEAK, FAR_TOO_SLOW, LOST_PARAMETER)

LOW_SHARE, OF_OTHERS = 0.25, 0.5
MOST_SPREAD = 1.5
# A token costs some hundred kernel launches of a few microseconds whatever the model: without them every large card
# would seem slow with a small model.
TOKEN_OVERHEAD_S = 1e-3


def doubts(results: Sequence[CitedResult]) -> dict[int, str]:
    """Place in `results` -> the reason. As many queries for any number of results, whose sheets are certain or None."""
    peaks = peaks_by_accelerator()
    reasons = dict.fromkeys(_of_lost_parameters(results), LOST_PARAMETER)
    reasons |= dict.fromkeys(_far_too_slow(results, peaks), FAR_TOO_SLOW)
    reasons |= dict.fromkeys(_impossible(results, peaks), ABOVE_THE_PEAK)
    return reasons


def _impossible(results: Sequence[CitedResult], peaks: Mapping[int, Published]) -> Iterator[int]:
    for index, result in enumerate(results):
        if result.accelerator_id is not None and above_bound(result, peaks.get(result.accelerator_id, {})) is not None:
            yield index


def _of_lost_parameters(results: Sequence[CitedResult]) -> Iterator[int]:
    """Those that one source prints of one card and setting with figures too far apart for one setting."""
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, result in enumerate(results):
        groups[_run_of(result)].append(index)
    for indices in groups.values():
        amounts = [results[index].amount for index in indices]
        if max(amounts) > MOST_SPREAD * min(amounts):
            yield from indices


def _run_of(result: CitedResult) -> tuple[object, ...]:
    """Everything that a source says of a result but the figure."""
    card = result.accelerator_id, result.reported_name, result.count
    run = result.benchmark, pairs_text(result.params), UNITS[result.unit].si, pairs_text(result.software)
    return result.source_id, result.host_id, *card, *run, result.date


def _far_too_slow(results: Sequence[CitedResult], peaks: Mapping[int, Published]) -> Iterator[int]:
    """Those that stay far below the memory bandwidth that bounds them, unlike the others of their accelerator."""
    shares: dict[int, dict[int, float]] = defaultdict(dict)
    for index, result in enumerate(results):
        pk = result.accelerator_id
        share = None if pk is None else bandwidth_share(result, peaks.get(pk, {}))
        if share is not None and pk is not None:
            shares[pk][index] = share
    for of_accelerator in shares.values():
        for index, share in of_accelerator.items():
            if share < LOW_SHARE and share < OF_OTHERS * _median_of_others(index, of_accelerator):
                yield index


def _median_of_others(index: int, shares: Mapping[int, float]) -> float:
    """0 where there are none."""
    return median([share for other, share in shares.items() if other != index] or [0.0])


def bandwidth_share(result: CitedResult, published: Published) -> float | None:
    """Return the time that memory alone would take over the time taken; None where memory does not bound the result.

    Of one device only: several that take turns are slower by their number.
    """
    benchmark = CITED_BENCHMARKS.get(result.benchmark)
    bound = benchmark.bound(result.params) if benchmark is not None and result.count == 1 else None
    if benchmark is None or bound is None or bound.fields != MEMORY_BANDWIDTH or not benchmark.higher_is_better:
        return None
    if bound.work is not None:
        reached = share_of_bound(result, published)
        return reached.share if reached is not None else None
    weights, bandwidth = (
        weights_of_name(result.params),
        usual_peak(published, result.accelerator_id or 0, bound.fields[0]),
    )
    is_alone = result.params.get("batch", 1) == 1 and "+" not in str(result.params.get("test", ""))
    if weights is None or bandwidth is None or not is_alone:
        return None
    return result.amount * (weights / bandwidth[1] + TOKEN_OVERHEAD_S)
