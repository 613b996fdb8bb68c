"""What public machines measured of the thing a field publishes: the best and the middle result of each accelerator.

Only machines of public labs, whoever asks: these pages are the same for everybody. Nine queries at most, whatever is
stored.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import CharField, Count, Max, Q, Sum
from django.db.models.functions import Cast
from django.utils.translation import get_language

from stackviz.benchmarks.best import best_by, is_of_whole_card
from stackviz.benchmarks.measurement import Measurement
from stackviz.benchmarks.models import Series
from stackviz.benchmarks.queries import newest_results
from stackviz.catalog.models import CatalogueEdition
from stackviz.labs.models import Machine
from stackviz.labs.queries import visible_machines
from stackviz.measuring import VERSIONS, Benchmark
from stackviz.units import format_quantity

# Series of the machines that reported last; older ones are left out, so that a page costs what it shows.
MOST_SERIES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What public machines with this accelerator measured, in the benchmark's unit: rates, best and median.

    `best_label`, `setting`, `machine`, `url` and `remarks` are of the best. `share`: of the published peak, "" unknown.
    """

    best: float
    median: float
    best_label: str
    median_label: str
    setting: str
    machine: str
    url: str
    day: str
    share: str
    is_above_peak: bool
    remarks: tuple[str, ...]
    results: int
    machines: int


def measures(field: str) -> tuple[tuple[Benchmark, tuple[str, ...]], ...]:
    """(benchmark, its dtypes) that time what this field publishes; () where none does. Dtype "" stands for any."""
    found = []
    for benchmark in VERSIONS.values():
        dtypes = tuple(dtype for dtype, fields in benchmark.bounds.items() if field in fields)
        if dtypes:
            found.append((benchmark, dtypes))
    return tuple(found)


def measured(field: str) -> Mapping[int, Measured]:
    """Accelerator pk -> what was measured of this field. No query where no benchmark times it; two where nothing has
    changed since this process last looked."""
    timed = measures(field)
    if not timed:
        return {}
    state = (CatalogueEdition.current(), *_newest_reports())
    key = field, get_language() or ""
    if key not in _looked or _looked[key][0] != state:
        _looked[key] = state, _measured(field, timed)
    return _looked[key][1]


# The last look for each field and language: as many as there are fields that a benchmark times.
_looked: dict[tuple[str, str], tuple[tuple[object, ...], Mapping[int, Measured]]] = {}


def _newest_reports() -> tuple[object, ...]:
    """Names which public machines there are and which reports of theirs are the newest ones. One query."""
    newest = visible_machines(AnonymousUser()).order_by()
    found = newest.aggregate(
        machines=Count("pk"),
        snapshots=Sum("latest_snapshot"),
        read_at=Max("latest_snapshot__report__read_at"),
        report=Max(Cast("latest_snapshot__report", CharField())),
    )
    return tuple(found.values())


def _measured(field: str, timed: Iterable[tuple[Benchmark, tuple[str, ...]]]) -> Mapping[int, Measured]:
    results = [result for result in newest_results(_series(timed)) if _is_of(field, result)]
    machines = visible_machines(AnonymousUser()).in_bulk({result.machine_id for result in results})
    by_card: dict[int, list[Measurement]] = defaultdict(list)
    for result in results:
        card = result.card
        if card is not None and card.accelerator_id is not None and result.machine_id in machines:
            by_card[card.accelerator_id].append(result)
    return {pk: _summary(own, machines) for pk, own in by_card.items()}


def _series(timed: Iterable[tuple[Benchmark, tuple[str, ...]]]) -> Iterable[int]:
    wanted = Q()
    for benchmark, dtypes in timed:
        of_one = Q(benchmark=benchmark.key, version=benchmark.version)
        if "" not in dtypes:
            of_one &= Q(params__dtype__in=["fp32" if dtype == "tf32" else dtype for dtype in dtypes])
        wanted |= of_one
    public = visible_machines(AnonymousUser()).values("pk")
    rows = Series.objects.filter(wanted, machine__in=public, card_index__isnull=False)
    return rows.order_by("-machine__latest_taken_at", "-pk").values_list("pk", flat=True)[:MOST_SERIES]


def _is_of(field: str, result: Measurement) -> bool:
    """Whether this is a figure of the whole card for this field, in its number format."""
    benchmark = result.benchmark
    if benchmark is None or not is_of_whole_card(result):
        return False
    if result.peak is not None:
        return result.peak.field == field
    return field in benchmark.bounding_fields(result.params, tf32=result.conditions.get("tf32") is True)


def _summary(results: list[Measurement], machines: Mapping[int, Machine]) -> Measured:
    """`results`: of one accelerator, each with a rate; at least one."""
    rated = [(result.rate, result) for result in results if result.rate]
    (best,) = best_by(lambda _result: "best", results).values()
    rate = next(rate for rate, result in rated if result is best)
    middle = statistics.median(rate.value for rate, _result in rated)
    machine = machines[best.machine_id]
    return Measured(
        best=rate.value,
        median=middle,
        best_label=rate.label,
        median_label=format_quantity(middle, rate.unit, digits=3).label,
        setting=best.setting,
        machine=machine.name,
        url=machine.get_absolute_url(),
        day=f"{best.measured_at:%Y-%m-%d}",
        share=best.peak.label if best.peak else "",
        is_above_peak=bool(best.peak and best.peak.is_above_peak),
        remarks=best.remarks,
        results=len(rated),
        machines=len({result.machine_id for result in results}),
    )
