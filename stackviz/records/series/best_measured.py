"""Measured results for a field: of each accelerator the best, and the median of machines in the same setting.

Whose results count, and how long an answer is cached, is defined in `stackviz.records.series.public_runs`.
"""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from stackviz.base.units import quantity_label
from stackviz.records.labs.models import Machine
from stackviz.records.series.comparability import best_by, lowered_power_limit, rate_of_ranked
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.public_runs import cached_for_edition, machines_of_runs, public_runs
from stackviz.report.measuring import VERSIONS, Benchmark

FEWEST_MACHINES = 3  # of one or two a median says nothing of others


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSummary:
    """Results of public machines with one accelerator in one setting, under one power limit, in the benchmark's unit.

    `best`: over time. `median`: of the newest run of each of `machines`; None and "" for fewer than FEWEST_MACHINES.
    `setting`, `machine`, `url` and `remarks` are those of the best. `share`: of the published peak, "" where that is
    unknown.
    """

    best: float
    median: float | None
    median_label: str
    setting: str
    machine: str
    url: str
    day: str
    share: str
    is_above_peak: bool
    remarks: tuple[str, ...]
    machines: int


def measures(field: str) -> tuple[tuple[Benchmark, tuple[str, ...]], ...]:
    """The (benchmark, dtypes) that measure this field; () where none does. Dtype "" stands for any."""
    timed = []
    for benchmark in VERSIONS.values():
        dtypes = tuple(dtype for dtype, fields in benchmark.bounds.items() if field in fields)
        if dtypes:
            timed.append((benchmark, dtypes))
    return tuple(timed)


def measured(field: str) -> Mapping[int, MeasuredSummary]:
    """Accelerator pk -> measured results for this field.

    No query where no benchmark measures it; two where nothing has changed since the last call in this process, else at
    most nine.
    """
    return cached_for_edition(_measured, field) if measures(field) else {}


def _measured(field: str) -> Mapping[int, MeasuredSummary]:
    results = [result for result in public_runs(_series(field)) if _is_of(field, result)]
    machines = machines_of_runs(results)
    by_sheet: dict[int, list[Measurement]] = defaultdict(list)
    for result in results:
        if result.accelerator_id is not None and result.machine_id in machines:
            by_sheet[result.accelerator_id].append(result)
    return {pk: _summary(group, machines) for pk, group in by_sheet.items()}


def _series(field: str) -> Q:
    wanted = Q()
    for benchmark, dtypes in measures(field):
        of_benchmark = Q(benchmark=benchmark.key, version=benchmark.version)
        if "" not in dtypes:
            of_benchmark &= Q(params__dtype__in=["fp32" if dtype == "tf32" else dtype for dtype in dtypes])
        wanted |= of_benchmark
    return wanted


def _is_of(field: str, result: Measurement) -> bool:
    """Whether this is a result for this field, in its number format."""
    benchmark = result.benchmark
    if benchmark is None:
        return False
    if result.peak is not None:
        return result.peak.field == field
    return field in benchmark.bounding_fields(result.params, tf32=result.conditions.get("tf32") is True)


def _summary(results: list[Measurement], machines: Mapping[int, Machine]) -> MeasuredSummary:
    """`results`: of one accelerator, each with a rate, newest first within a series; at least one."""
    (best,) = best_by(lambda _result: "best", results).values()
    fastest = best.result
    newest = _newest_of_machines(fastest, results)
    middle = statistics.median(newest) if len(newest) >= FEWEST_MACHINES else None
    machine = machines[fastest.machine_id]
    return MeasuredSummary(
        best=best.rate.value,
        median=middle,
        median_label=quantity_label(middle, best.rate.unit, digits=3) if middle is not None else "",
        setting=fastest.setting,
        machine=machine.name,
        url=machine.get_absolute_url(),
        day=f"{fastest.measured_at:%Y-%m-%d}",
        share=fastest.peak.label if fastest.peak else "",
        is_above_peak=bool(fastest.peak and fastest.peak.is_above_peak),
        remarks=(*fastest.remarks, *filter(None, [best.remark])),
        machines=len(newest),
    )


def _newest_of_machines(best: Measurement, results: Sequence[Measurement]) -> Sequence[float]:
    """The rate of the newest run of each machine, of those in the setting and under the power limit of the best."""
    alike = (
        result
        for result in results
        if result.pair == best.pair and lowered_power_limit(result) == lowered_power_limit(best)
    )
    by_time = sorted(alike, key=lambda result: result.measured_at)
    return list({result.machine_id: rate_of_ranked(result).value for result in by_time}.values())
