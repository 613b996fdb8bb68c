"""Measured results of public machines: of each accelerator, benchmark and setting the best, on whole cards only.

Whose results count, and how long an answer is cached, is defined in `stackviz.records.series.public_runs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from stackviz.pages.benchmarks.intensity import ITEM_BYTES, Operation, bytes_moved, product
from stackviz.records.labs.models import Machine
from stackviz.records.series.comparability import BestRun, best_by
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.public_runs import cached_for_edition, machines_of_runs, public_runs
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
    return cached_for_edition(_measured_bests)


def _measured_bests() -> tuple[MeasuredBest, ...]:
    runs = public_runs(Q(benchmark__in=[GEMM, COPY]))
    best = best_by(lambda result: (result.accelerator_id, *result.pair), runs)
    machines = machines_of_runs(run.result for run in best.values())
    shown = (_shown(run, machines) for run in best.values())
    return tuple(best for best in shown if best is not None)


def _shown(run: BestRun, machines: Mapping[int, Machine]) -> MeasuredBest | None:
    result = run.result
    machine, operation = machines.get(result.machine_id), _operation(result)
    if machine is None or operation is None or result.accelerator_id is None:
        return None
    torch = f"torch {result.torch_version}" if result.torch_version else ""
    return MeasuredBest(
        accelerator_id=result.accelerator_id,
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
