"""Reads across results. What a page costs depends on the series it shows, never on how many results are stored."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Window
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import RowNumber

from stackviz.base.stats import Summary
from stackviz.records.catalog.past import peaks_at
from stackviz.records.catalog.queries import peaks
from stackviz.records.labs.models import Card, Machine, Snapshot
from stackviz.records.series.bound import PublishedPeaks, bounds_of, peak_share
from stackviz.records.series.measurement import CardUsed, Measurement, benchmark, benchmark_titles, rate_of, round_count
from stackviz.records.series.models import Result, Series
from stackviz.records.series.rollup import counting_results
from stackviz.records.series.standing import CLOCK_MAY_BE_AHEAD, counts
from stackviz.report.measuring.in_mlx import MLX
from stackviz.report.measuring.stated_rate import disturbances

MOST_SERIES = 1000  # in a ranking; those of the machines that reported last
RECENT_FIRST = F("latest_at").desc(nulls_last=True), F("pk").desc()
SERIES_OF_A_MACHINE = 100  # anyone may send new parameters: a sweep over thousands of sizes must not crowd others out


def ranked_series(
    series: QuerySet[Series], most: int = MOST_SERIES, of_machine: int = SERIES_OF_A_MACHINE
) -> QuerySet[Series, int]:
    """Keys of at most `most` of these series, those of the machines that reported last first.

    Of each machine at most `of_machine`, the most recently measured ones. One query, when it is read.
    """
    turn = Window(RowNumber(), partition_by="machine", order_by=RECENT_FIRST)
    fair = series.annotate(turn=turn).filter(turn__lte=of_machine)
    return fair.order_by("-machine__latest_taken_at", "-pk").values_list("pk", flat=True)[:most]


HISTORY_POINTS = 500  # a line with more points than pixels says nothing more
RUNS_OF_SERIES = 3  # an earlier run can confirm the newest; more would cost without changing the answer
SERIES_PER_MACHINE = 300  # the most recently measured; nobody reads a longer page, and anyone may send new parameters

_RESULT_FIELDS = (
    "pk", "series_id", "report_id", "measured_at", "state", "reason", "unit", "median", "q1", "q3", "low", "high",
    "sample_count", "conditions", "position", "flags", "standing",
)  # fmt: skip

_SERIES_FIELDS = ("pk", "machine_id", "benchmark", "version", "device", "card_index", "params", "params_key")


class LatestResults(list[Measurement]):
    """The newest results of a machine. `left_out`: the number of further series, measured longer ago."""

    left_out: int = 0


def latest_results(machines: Iterable[Machine | int], snapshots: Iterable[Snapshot] = ()) -> dict[int, LatestResults]:
    """Machine pk -> the newest result of each of its series, by benchmark, device and setting. Five queries at most.

    `snapshots`: those the caller has read, with their cards; of results in other reports two queries read the cards and
    the version of torch.

    Of a machine's series the SERIES_PER_MACHINE most recently measured; the others are counted in `left_out`. Each
    series names its newest result, so that stored history costs nothing.
    """
    pks = [machine if isinstance(machine, int) else machine.pk for machine in machines]
    by_report = {snapshot.report_id: snapshot for snapshot in snapshots}
    return _measurements(pks, _series_with_latest().filter(machine__in=pks), by_report)


def latest_result(series: Series) -> Measurement | None:
    """The newest result of one series, however long ago; None while it has none. Five queries at most."""
    results = _measurements([series.machine_id], _series_with_latest().filter(pk=series.pk))
    return next(iter(results[series.machine_id]), None)


def results_until(machine: Machine, at: datetime) -> dict[int, Measurement]:
    """Series pk -> its newest result that is not later than `at`, of the series measured last. Five queries at most."""
    newest = Result.objects.filter(series=OuterRef("pk"), measured_at__lte=at).order_by("-measured_at")
    rows = Series.objects.filter(machine=machine).annotate(then=Subquery(newest.values("pk")[:1]))
    listed = rows.order_by(*RECENT_FIRST).values_list(*_SERIES_FIELDS, "then", named=True)[:SERIES_PER_MACHINE]
    series = {row.pk: row for row in listed if row.then is not None}
    then = Result.objects.filter(pk__in=[row.then for row in series.values()], measured_at__lte=at)
    results = _joined(series, then.values_list(*_RESULT_FIELDS, named=True)) if series else []
    return {result.series_id: result for result in results}


def results_arrived_until(
    machines: Iterable[int], at: datetime, snapshots: Iterable[Snapshot] = ()
) -> dict[int, LatestResults]:
    """`latest_results` as they were at the moment: of reports that had arrived, against the peaks published then.

    Whether a result counts is decided as of today. `snapshots`: as in `latest_results`. Seven queries at most.
    """
    pks = list(machines)
    arrived = Result.objects.filter(series=OuterRef("pk"), report__received_at__lte=at)
    # A clock may be ahead of ours by so much. The limit lets the index skip what was measured since.
    newest = arrived.filter(measured_at__lte=at + CLOCK_MAY_BE_AHEAD).order_by("-measured_at", "-pk")
    rows = Series.objects.filter(machine__in=pks).annotate(
        place=Window(RowNumber(), partition_by="machine", order_by=RECENT_FIRST), then=Subquery(newest.values("pk")[:1])
    )
    listed = rows.filter(place__lte=SERIES_PER_MACHINE).values_list(*_SERIES_FIELDS, "then", named=True)
    series = {row.pk: row for row in listed if row.then is not None}
    results = {pk: LatestResults() for pk in pks}
    if not series:
        return results
    then = Result.objects.filter(pk__in=[row.then for row in series.values()], measured_at__lte=at + CLOCK_MAY_BE_AHEAD)
    known = {snapshot.report_id: snapshot for snapshot in snapshots}
    then_rows = then.values_list(*_RESULT_FIELDS, named=True)
    for measured in _joined(series, then_rows, known, lambda ids: peaks_at(ids, at)):
        results[measured.machine_id].append(measured)
    for measurements in results.values():
        measurements.sort(key=_reading_order)
    return results


def comparable_runs(series: Iterable[int]) -> list[Measurement]:
    """The newest RUNS_OF_SERIES runs of each of the series with these pks that count. Six queries at most.

    What charts and rankings of measured results are made of: runs that are ok and not set aside, newest first. They are
    looked for among the newest BASELINE_RUNS results of a series, however many it has, and only where its roll-up says
    that there are any. The caller must have checked that these machines may be seen.
    """
    counting = Series.objects.filter(pk__in=set(series), baseline_runs__gt=0)
    rows = {row.pk: row for row in counting.values_list(*_SERIES_FIELDS, named=True)}
    pks = counting_results(rows, RUNS_OF_SERIES) if rows else []
    if not pks:
        return []
    joined = _joined(rows, Result.objects.filter(pk__in=pks).values_list(*_RESULT_FIELDS, named=True))
    results = [result for result in joined if not result.why_set_aside]
    return sorted(results, key=lambda result: result.measured_at, reverse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One result in full. `samples`: in the unit of the result, in the order they were taken."""

    measured: Measurement
    samples: Sequence[float]
    duration_s: float | None


def stored_run(report_id: UUID, position: int) -> StoredRun | None:
    """The result at this position of a report, whatever its standing. Five queries at most.

    The caller must have checked that the report may be seen.
    """
    fields = (*_RESULT_FIELDS, "samples", "duration_s")
    row = Result.objects.filter(report_id=report_id, position=position).values_list(*fields, named=True).first()
    if row is None:
        return None
    series = Series.objects.get(pk=row.series_id)
    (measured,) = _joined({series.pk: series}, [row])
    return StoredRun(measured=measured, samples=row.samples, duration_s=row.duration_s)


def _measurements(
    machines: Iterable[int], rows: Iterable[Any], snapshots: Mapping[UUID, Snapshot] = MappingProxyType({})
) -> dict[int, LatestResults]:
    """`rows`: as `_series_with_latest` has them; `snapshots`: those that are read already, by report."""
    by_machine = {pk: LatestResults() for pk in machines}
    series = {row.pk: row for row in rows if row.latest is not None}
    for row in series.values():
        by_machine[row.machine_id].left_out = max(0, row.of_machine - SERIES_PER_MACHINE)
    if not series:
        return by_machine
    newest = Result.objects.filter(pk__in=[row.latest for row in series.values()])
    for measured in _joined(series, newest.values_list(*_RESULT_FIELDS, named=True), snapshots):
        by_machine[measured.machine_id].append(measured)
    for measurements in by_machine.values():
        measurements.sort(key=_reading_order)
    return by_machine


def _joined(
    series: Mapping[int, Any],
    results: Iterable[Any],
    snapshots: Mapping[UUID, Snapshot] = MappingProxyType({}),
    peaks_of_ids: Callable[[set[int]], PublishedPeaks] = peaks,
) -> list[Measurement]:
    """Rows of results with their series, cards, versions of torch and published peaks. Three queries at most.

    `peaks_of_ids`: accelerator ids -> what is published of them.
    """
    rows = list(results)
    reports = {row.report_id for row in rows}
    torch_versions, cards = _torch_versions(reports, snapshots), _cards(reports, snapshots)
    published = peaks_of_ids({card.accelerator_id for card in cards.values() if card.accelerator_id is not None})
    measured = [_measurement(series[row.series_id], row, torch_versions, cards, published) for row in rows]
    titles = benchmark_titles()
    for result in measured:
        result.__dict__["title"] = titles.get((result.benchmark_key, result.version), result.benchmark_key)
    return measured


@cache
def _series_with_latest() -> Any:  # noqa: ANN401 - a query set of named rows with annotations
    """All series as rows, of each machine the most recently measured; `latest`: pk of the newest result, or None.

    To be filtered. Built once: that takes as long as the query.
    """
    rows = Series.objects.annotate(
        latest=F("latest_result"),
        of_machine=Window(Count("pk"), partition_by="machine"),
        place=Window(RowNumber(), partition_by="machine", order_by=RECENT_FIRST),
    ).filter(place__lte=SERIES_PER_MACHINE)
    return rows.values_list(*_SERIES_FIELDS, "latest", "of_machine", named=True)


def _torch_versions(reports: Iterable[UUID], snapshots: Mapping[UUID, Snapshot]) -> dict[UUID, str | None]:
    known = {report: snapshots[report].facts.get("torch.version") for report in reports if report in snapshots}
    others = [report for report in reports if report not in known]
    if not others:
        return known
    version = KeyTextTransform("torch.version", "facts")
    rows = Snapshot.objects.filter(report__in=others).annotate(torch_version=version)
    return known | dict(rows.values_list("report_id", "torch_version"))


def _cards(reports: Iterable[UUID], snapshots: Mapping[UUID, Snapshot]) -> dict[tuple[UUID, int], CardUsed]:
    used = {
        (report, card.index): CardUsed(card.index, card.reported_name, card.accelerator_id, card.facts)
        for report in reports
        if report in snapshots
        for card in snapshots[report].cards.all()
    }
    others = [report for report in reports if report not in snapshots]
    if others:
        rows = Card.objects.filter(snapshot__report__in=others)
        fields = ("snapshot__report_id", "index", "reported_name", "accelerator_id", "facts")
        used |= {(report, index): CardUsed(index, *rest) for report, index, *rest in rows.values_list(*fields)}
    return used


def _measurement(
    series: Series,
    result: Result,
    torch_versions: Mapping[UUID, str | None],
    cards: Mapping[tuple[UUID, int], CardUsed],
    published: PublishedPeaks,
) -> Measurement:
    """`series` and `result` are rows with the columns of these models: instances would cost as much as the queries."""
    card = _card_of(series, result, cards)
    summary = _summary(result, series.device)
    known = benchmark(series.benchmark, series.version)
    rate = rate_of(known, series.params, summary, result.unit)
    measured = Measurement(
        machine_id=series.machine_id,
        series_id=series.pk,
        report_id=result.report_id,
        benchmark_key=series.benchmark,
        version=series.version,
        device=series.device,
        card_index=series.card_index,
        params=series.params,
        params_key=series.params_key,
        measured_at=result.measured_at,
        state=result.state,
        reason=result.reason,
        unit=result.unit,
        summary=summary,
        conditions=result.conditions,
        position=result.position,
        flags=tuple((result.flags or "").split()),
        standing=result.standing,
        torch_version=_torch_version(result, torch_versions),
        card=card,
        peak=peak_share(rate, card, bounds_of(known, series.params, result.conditions), published),
    )
    measured.__dict__["rate"] = rate  # the cached property, which every page asks for
    return measured


def _card_of(series: Series, result: Result, cards: Mapping[tuple[UUID, int], CardUsed]) -> CardUsed | None:
    """The card of a series; where a benchmark is for several, the first of those that worked, if all have one sheet."""
    if series.card_index is not None:
        return cards.get((result.report_id, series.card_index))
    known = benchmark(series.benchmark, series.version)
    if known is None or not known.on_several_cards:
        return None
    indexes = [int(index) for index in str(result.conditions.get("cards_used", "")).split() if index.isdecimal()]
    used = [cards.get((result.report_id, index)) for index in indexes]
    sheets = {card.accelerator_id if card else None for card in used}
    return used[0] if len(sheets) == 1 else None


def _torch_version(result: Result, of_reports: Mapping[UUID, str | None]) -> str | None:
    """Of torch, where it computed: that of the result, else that of its report."""
    if result.conditions.get("framework") == MLX:
        return None
    return result.conditions.get("torch_version") or of_reports.get(result.report_id)


def _summary(result: Result, device: str) -> Summary | None:
    if result.median is None:
        return None
    return Summary(
        count=result.sample_count,
        median=result.median,
        q1=result.q1,
        q3=result.q3,
        low=result.low,
        high=result.high,
        rounds=round_count(result.conditions),
        is_disturbed=bool(disturbances(result.conditions, device)),
    )


def _reading_order(measured: Measurement) -> tuple[Any, ...]:
    size = [value for value in measured.params.values() if isinstance(value, int | float)]
    card = -1 if measured.card_index is None else measured.card_index
    return (
        measured.benchmark_key,
        measured.device,
        card,
        str(measured.params.get("dtype", "")),
        size,
        measured.series_id,
    )


POINT_FIELDS = ("measured_at", "report_id", "state", "reason", "low", "high", "standing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One result of a series' past. `seconds` None: the run failed or was skipped, for `reason`.

    `counts`: whether it takes part in comparisons; the published peak is not looked at here.
    """

    measured_at: datetime
    report_id: UUID
    state: str
    reason: str
    seconds: float | None
    low: float | None
    high: float | None
    standing: str | None = None

    @property
    def counts(self) -> bool:
        return bool(self.seconds and self.seconds > 0) and self.state == Result.State.OK and counts(self.standing)


def series_history(series: Series, points: int = HISTORY_POINTS) -> list[Point]:
    """The newest `points` results of a series, oldest first. One query, as long as the answer."""
    newest = Result.objects.filter(series=series).order_by("-measured_at").values(*POINT_FIELDS, seconds=F("median"))
    return [Point(**row) for row in reversed(list(newest[:points]))]
