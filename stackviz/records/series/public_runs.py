"""What machines of public labs measured on whole cards, and answers made of it, cached until something changes.

Only machines of public labs, whoever asks, because pages made of these results are cached for all visitors. Which
results count and which is best is defined in `comparability`.

    measured_edition()                    moves with everything such an answer is made of
    public_runs(Q(benchmark="gemm"))      the results
    machines_of_runs(results)             their machines by primary key
    measured(field)                       of each accelerator the best result, and the median of equal machines
    cached_for_edition(compute, "gemm")   `compute("gemm")`, remembered while the edition stays
    cached_for_strangers(user, state, draw)   what `draw(user)` renders, cached where `user` sees public labs alone
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar, TypeVarTuple, cast

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import CharField, Count, Max, Q, Subquery, Sum
from django.db.models.functions import Cast
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from stackviz.base.units import quantity_label
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import LabReader, Visitor, visible_machines
from stackviz.records.series.comparability import best_by, is_of_whole_card, lowered_power_limit, rate_of_ranked
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import ResultDecision, Series
from stackviz.records.series.queries import comparable_runs, ranked_series
from stackviz.records.stacks.models import Edition
from stackviz.report.measuring import BENCHMARKS, VERSIONS, Benchmark
from stackviz.web.http.request_memo import remember
from stackviz.web.parts import cached_parts

# Of one edition: fields and benchmarks that are measured, 19 in November 2026, in each language.
MOST_ANSWERS = 64
STRANGERS_CACHE_S = 60  # what they see says how long ago a machine reported, and its name, which moves no edition

_ON_SEVERAL_CARDS = tuple(known.key for known in BENCHMARKS.values() if known.on_several_cards)

Answer = TypeVar("Answer")
Key = TypeVarTuple("Key")  # hashable


def public_runs(chosen: Q) -> list[Measurement]:
    """The runs that count of these series, of whole cards, on accelerators with a sheet, newest first.

    Of at most so many series as `ranked_series` allows, so that the cost does not grow with what is stored. Six queries
    at most.
    """
    public = visible_machines(AnonymousUser()).values("pk")
    on_cards = Q(card_index__isnull=False) | Q(benchmark__in=_ON_SEVERAL_CARDS)
    series = Series.objects.filter(chosen, on_cards, machine__in=public)
    return [run for run in comparable_runs(ranked_series(series)) if is_of_whole_card(run)]


def machines_of_runs(results: Iterable[Measurement]) -> Mapping[int, Machine]:
    """The machines of these results by primary key, with their labs, those that are still public. One query."""
    return visible_machines(AnonymousUser()).in_bulk({result.machine_id for result in results})


def measured_edition() -> tuple[object, ...]:
    """Moves with sheets, public machines, whatever is read or deleted of them, and decisions about results.

    One query beside the editions, once for each request.
    """
    return remember("measured edition", _measured_edition)


def _measured_edition() -> tuple[object, ...]:
    with connection.cursor() as cursor:
        cursor.execute(*_public_state())
        return CatalogueEdition.current(), *cursor.fetchall()


@cache
def _public_state() -> tuple[str, tuple[Any, ...]]:
    """The statement that sums up all public machines in one row, none without any: every page sends it."""
    decided = Subquery(ResultDecision.objects.order_by("-pk").values("pk")[:1])
    public = visible_machines(AnonymousUser()).order_by().values("lab__is_public")
    state = public.annotate(
        machines=Count("pk"),
        times_read_in_all=Sum("times_read"),
        newest_snapshots=Sum("latest_snapshot"),
        report=Max(Cast("latest_snapshot__report", CharField())),
        decided=Max(decided),
    )
    return state.query.sql_with_params()


def cached_for_edition(compute: Callable[[*Key], Answer], *key: *Key, is_translated: bool = True) -> Answer:
    """`compute(*key)`, where it must read nothing but what the edition moves with. The queries of `measured_edition`.

    An answer is never older than the edition of the request, and those of an earlier edition are forgotten with the
    first question for a later one. `is_translated`: whether the answer has words, so that each language has its own.
    """
    edition = measured_edition()
    _forget_others(edition)
    return cast("Answer", _cached(edition, get_language() if is_translated else None, compute, key))


@lru_cache(maxsize=1)
def _forget_others(_edition: tuple[object, ...]) -> None:
    """Runs once for each edition, as its own cache holds the last one only."""
    _cached.cache_clear()


@lru_cache(maxsize=MOST_ANSWERS)
def _cached(
    _edition: tuple[object, ...], _language: str | None, compute: Callable[..., object], key: tuple[object, ...]
) -> object:
    return compute(*key)


def cached_for_strangers(
    visitor: Visitor, state: tuple[object, ...], draw: Callable[[Visitor], tuple[str, ...]]
) -> tuple[SafeString, ...]:
    """The pieces of HTML that `draw` renders for this visitor.

    Whoever belongs to a lab, or sent a key of one, may see private machines: they get their own. Everybody else gets
    what was drawn for somebody without an account, while `state`, public machines, sheets and stacks stay as they are.
    """
    if visitor.is_authenticated or isinstance(visitor, LabReader):
        return tuple(map(SafeString, draw(visitor)))
    editions = (*measured_edition(), Edition.current())
    return cached_parts((*state, *editions), lambda: draw(AnonymousUser()), STRANGERS_CACHE_S)


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
