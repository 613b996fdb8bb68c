"""Measured results of public machines: of each accelerator, benchmark and setting the best, on whole cards only.

Only machines of public labs, regardless of who is logged in, because the pages are cached for all visitors. Which
results count and which is best is defined in `stackviz.benchmarks.comparability`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import get_language

from stackviz.benchmarks.comparability import BestRun, best_by, is_of_whole_card
from stackviz.benchmarks.measurement import Measurement
from stackviz.benchmarks.models import Series
from stackviz.benchmarks.queries import comparable_runs, measured_edition
from stackviz.benchmarks.ranked_series import ranked_series
from stackviz.catalog.models import CatalogueEdition
from stackviz.labs.models import Machine
from stackviz.labs.queries import visible_machines
from stackviz.measuring import VERSIONS
from stackviz.performance.intensity import ITEM_BYTES, Operation, bytes_moved, product
from stackviz.web.templatetags.web import joined

GEMM, COPY = "gemm", "memory-copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredBest:
    """The best result of an accelerator in one setting. `size`: side of the matrices, or bytes; 0 for oblong ones."""

    accelerator_id: int
    series_id: int
    benchmark: str
    operation: Operation
    size: int
    setting: str
    made: str
    machine: str
    url: str


def measured_bests() -> tuple[MeasuredBest, ...]:
    """Two queries where nothing has changed since the last call in this process; nine at most."""
    state, language = measured_state(), get_language() or ""
    if language not in _cached or _cached[language][0] != state:
        _cached[language] = state, _measured_bests()
    return _cached[language][1]


# The last answer in each language: remarks are in words.
_cached: dict[str, tuple[tuple[object, ...], tuple[MeasuredBest, ...]]] = {}


def measured_state() -> tuple[object, ...]:
    """Moves with sheets, public machines, their newest reports, and what people decide about results. Two queries.

    That of the sheets is asked for once a request.
    """
    return (CatalogueEdition.current(), *measured_edition())


def _measured_bests() -> tuple[MeasuredBest, ...]:
    public = visible_machines(AnonymousUser()).values("pk")
    versions = [known for known in VERSIONS.values() if known.key in (GEMM, COPY)]
    rows = Series.objects.filter(
        benchmark__in={known.key for known in versions}, machine__in=public, card_index__isnull=False
    )
    results = [result for result in comparable_runs(ranked_series(rows)) if is_of_whole_card(result)]
    best = best_by(lambda result: (result.card and result.card.accelerator_id, *result.pair), results)
    machines = visible_machines(AnonymousUser()).in_bulk({run.result.machine_id for run in best.values()})
    shown = (_shown(run, machines) for run in best.values())
    return tuple(best for best in shown if best is not None)


def _shown(run: BestRun, machines: Mapping[int, Machine]) -> MeasuredBest | None:
    result = run.result
    machine, operation = machines.get(result.machine_id), _operation(result)
    if machine is None or operation is None or result.card is None or result.card.accelerator_id is None:
        return None
    torch = f"torch {result.torch_version}" if result.torch_version else ""
    return MeasuredBest(
        accelerator_id=result.card.accelerator_id,
        series_id=result.series_id,
        benchmark=result.benchmark_key,
        operation=operation,
        size=_size(result),
        setting=f"{result.title} {result.setting}",
        made=joined([torch, f"{result.measured_at:%Y-%m-%d}", *result.remarks, run.remark]),
        machine=machine.name,
        url=machine.get_absolute_url(),
    )


def _operation(result: Measurement) -> Operation | None:
    if result.rate is None:
        return None
    if result.benchmark_key == COPY:
        return bytes_moved(result.rate.value, "copy")
    sides = [result.params.get(side) for side in ("m", "n", "k")]
    dtype = str(result.params.get("dtype"))
    m, n, k = (side if isinstance(side, int) and side > 0 else 0 for side in sides)
    return product(dtype, (m, n, k), result.rate.value) if dtype in ITEM_BYTES and m and n and k else None


def _size(result: Measurement) -> int:
    if result.benchmark_key == COPY:
        size = result.params.get("bytes")
        return size if isinstance(size, int) else 0
    sides = {result.params.get(side) for side in ("m", "n", "k")}
    (side,) = sides if len(sides) == 1 else (0,)
    return side if isinstance(side, int) else 0
