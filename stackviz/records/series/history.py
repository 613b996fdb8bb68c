"""The past of a series: what changed in its stack between two reports, where the level of its results changed, and the
result that a machine is asked for first.

What a page costs depends on the newest HISTORY_POINTS results of the series, never on how many results are stored.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.utils.translation import gettext as _

from stackviz.base.stats import Ratio
from stackviz.base.stats.changes import MIN_RESULTS, level_changes
from stackviz.records.labs.models import Card, Machine, Snapshot
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.comparability import benchmark_place, dtype_place, is_accelerated, is_rankable
from stackviz.records.series.measurement import Measurement, benchmark
from stackviz.records.series.models import ChangeDecision, Result, Series
from stackviz.records.series.queries import HISTORY_POINTS, POINT_FIELDS, Point, series_history

# Facts of a report that move results, in the order they are named.
WATCHED_FACTS = (
    "nvidia.driver_version",
    "cuda.runtime_version",
    "torch.version",
    "python.version",
    "os.name",
    "os.version",
    "os.kernel",
)
WATCHED_CARD_FACTS = ("power_limit_w",)
NEAR_RESULTS = 2  # noise may move a change point by so many results
MOVED_RESULTS = 5  # and results that come in later by so many
NOTE_CHARS = 300
RECENT_SERIES = 12  # on the page of a machine's history, each with
RECENT_POINTS = 120  # results

Stack = Mapping[str, str]
_remembered_changes = lru_cache(maxsize=256)(level_changes)  # a third of the cost of a page that is opened again


@dataclass(frozen=True, slots=True)
class StackDifference:
    """One watched fact that two reports state differently; a fact that either does not state is none."""

    fact: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class StackChange:
    """The stack differs between this point and the one before it. `index`: of the point, from the oldest shown."""

    index: int
    differences: tuple[StackDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A change of level. `factor`: rate after over rate before, with its interval where both levels have six results.

    `point`: the first result after it, `last_before`: the last before it. `causes`: what the reports of these two state
    differently, or, where that is nothing, what changed within NEAR_RESULTS: then `is_near`.
    """

    point: Point
    last_before: Point
    seconds_before: float
    seconds_after: float
    factor: float
    low: float | None
    high: float | None
    causes: tuple[StackDifference, ...]
    is_near: bool
    decision: ChangeDecision | None = None

    @property
    def is_dismissed(self) -> bool:
        return self.decision is not None and self.decision.answer == ChangeDecision.Answer.DISMISSED


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesHistory:
    """The newest results of a series, oldest first. `undetected`: confirmed changes that are no longer found."""

    points: Sequence[Point]
    stack_changes: Sequence[StackChange]
    change_points: Sequence[ChangePoint]
    undetected: Sequence[ChangeDecision]


def history_of(series: Series, newest: int = HISTORY_POINTS) -> SeriesHistory:
    """Of the `newest` results. Four queries."""
    points = series_history(series, newest)
    reports = {point.report_id for point in points}
    stacks = _with_card(watched_stacks(reports), watched_cards(reports), series.card_index)
    decisions = list(ChangeDecision.objects.filter(series=series).select_related("by").order_by("-pk")[:200])
    change_points = found_changes(points, stacks, decisions, has_rates=_has_rates(series))
    seen = {change.decision.pk for change in change_points if change.decision}
    gone = [each for each in _newest_of_each(decisions) if each.answer == ChangeDecision.Answer.CONFIRMED]
    return SeriesHistory(
        points=points,
        stack_changes=stack_changes(points, stacks),
        change_points=change_points,
        undetected=[each for each in gone if each.pk not in seen],
    )


def recent_histories(machine: Machine) -> list[tuple[Series, SeriesHistory]]:
    """The series of a machine measured last, with their newest RECENT_POINTS results each. Five queries."""
    newest = Result.objects.filter(series=OuterRef("pk")).order_by("-measured_at")
    oldest_shown = Subquery(newest.values("measured_at")[RECENT_POINTS - 1 : RECENT_POINTS])
    rows = Series.objects.filter(machine=machine, result_count__gte=MIN_RESULTS).annotate(oldest_shown=oldest_shown)
    series = list(rows.order_by("-latest_at", "benchmark", "pk")[:RECENT_SERIES])
    if not series:
        return []
    wanted = Q()
    for each in series:
        wanted |= Q(series=each, **({"measured_at__gte": each.oldest_shown} if each.oldest_shown else {}))
    by_series: dict[int, list[Point]] = {each.pk: [] for each in series}
    results = Result.objects.filter(wanted).order_by("measured_at")
    for row in results.values("series_id", *POINT_FIELDS, seconds=F("median")):
        by_series[row.pop("series_id")].append(Point(**row))
    reports = {point.report_id for points in by_series.values() for point in points}
    decisions = ChangeDecision.objects.filter(series__in=series).select_related("by").order_by("-pk")
    decided = list(decisions[: RECENT_SERIES * 20])
    stacks, cards = watched_stacks(reports), watched_cards(reports)
    return [
        (each, _recent_history(each, by_series[each.pk], _with_card(stacks, cards, each.card_index), decided))
        for each in series
    ]


def _recent_history(
    series: Series, points: Sequence[Point], stacks: Mapping[UUID, Stack], decided: Sequence[ChangeDecision]
) -> SeriesHistory:
    of_series = [decision for decision in decided if decision.series_id == series.pk]
    return SeriesHistory(
        points=points,
        stack_changes=stack_changes(points, stacks),
        change_points=found_changes(points, stacks, of_series, has_rates=_has_rates(series)),
        undetected=(),
    )


def _has_rates(series: Series) -> bool:
    known = benchmark(series.benchmark, series.version)
    return known is not None and known.has_rates


def watched_stacks(reports: Iterable[UUID]) -> dict[UUID, dict[str, str]]:
    """Report -> its watched facts. One query."""
    rows = Snapshot.objects.filter(report__in=reports).order_by()
    stacks = rows.values_list("report_id", *_facts(WATCHED_FACTS))
    return {report: stated_facts(WATCHED_FACTS, values) for report, *values in stacks}


def watched_cards(reports: Iterable[UUID]) -> dict[tuple[UUID, int], dict[str, str]]:
    """(report, index of a card) -> its watched facts. One query."""
    rows = Card.objects.filter(snapshot__report__in=reports).order_by()
    cards = rows.values_list("snapshot__report_id", "index", *_facts(WATCHED_CARD_FACTS))
    return {(report, index): stated_facts(WATCHED_CARD_FACTS, values) for report, index, *values in cards}


def _facts(names: Sequence[str]) -> list[KeyTextTransform]:
    return [KeyTextTransform(name, "facts") for name in names]


def stated_facts(names: Sequence[str], values: Sequence[Any]) -> dict[str, str]:
    """The watched facts that have a value, as text."""
    return {
        name: str(value).removesuffix(".0") if name in WATCHED_CARD_FACTS else str(value)
        for name, value in zip(names, values, strict=True)
        if value not in (None, "")
    }


def _with_card(
    stacks: Mapping[UUID, Stack], cards: Mapping[tuple[UUID, int], Stack], index: int | None
) -> dict[UUID, Stack]:
    """Stacks of reports with the facts of one of their cards; None: of none."""
    if index is None:
        return dict(stacks)
    return {report: {**stack, **cards.get((report, index), {})} for report, stack in stacks.items()}


def stack_differences(before: Stack, after: Stack) -> tuple[StackDifference, ...]:
    """What two stacks state differently, in the order of the watched facts."""
    names = (*WATCHED_CARD_FACTS, *WATCHED_FACTS)
    return tuple(
        StackDifference(name, before[name], after[name])
        for name in names
        if name in before and name in after and before[name] != after[name]
    )


def stack_changes(points: Sequence[Point], stacks: Mapping[UUID, Stack]) -> list[StackChange]:
    """Between each two neighbours, oldest first."""
    stack_changes = []
    for at, (before, after) in enumerate(pairwise(points), start=1):
        between = _between(before, after, stacks)
        if between:
            stack_changes.append(StackChange(at, between))
    return stack_changes


def _between(before: Point, after: Point, stacks: Mapping[UUID, Stack]) -> tuple[StackDifference, ...]:
    return stack_differences(stacks.get(before.report_id, {}), stacks.get(after.report_id, {}))


def found_changes(
    points: Sequence[Point],
    stacks: Mapping[UUID, Stack],
    decisions: Sequence[ChangeDecision] = (),
    *,
    has_rates: bool = False,
) -> list[ChangePoint]:
    """The change points of the results that count, oldest first; `decisions` newest first.

    `has_rates`: samples are rates, not seconds: then more is faster.
    """
    counted = [point for point in points if point.counts]
    at_report = {point.report_id: at for at, point in enumerate(counted)}
    change_points = []
    for change in _remembered_changes(tuple(point.seconds or 0.0 for point in counted)):
        at = change.index
        causes = _between(counted[at - 1], counted[at], stacks)
        is_near = not causes
        if is_near:
            first, last = max(at - 1 - NEAR_RESULTS, 0), min(at + NEAR_RESULTS, len(counted) - 1)
            causes = _between(counted[first], counted[last], stacks)
        factor, low, high = _rate_factor(change.ratio, has_rates=has_rates)
        change_points.append(
            ChangePoint(
                point=counted[at],
                last_before=counted[at - 1],
                seconds_before=change.before,
                seconds_after=change.after,
                factor=factor,
                low=low,
                high=high,
                causes=causes,
                is_near=is_near and bool(causes),
                decision=_decision_at(at, decisions, at_report),
            )
        )
    return change_points


def new_changes(series: Series, reports: Collection[UUID], noted: Mapping[UUID, float]) -> list[ChangePoint]:
    """The change points that show since these reports: found with their results and not without.

    Later results move a change point: one near another of the same direction is that one. `noted`: those known before,
    report with which they begin -> factor. One query.
    """
    points = series_history(series)
    has_rates = _has_rates(series)
    changes = found_changes(points, {}, has_rates=has_rates)
    if not changes:
        return []
    earlier = found_changes([point for point in points if point.report_id not in reports], {}, has_rates=has_rates)
    at_report = {point.report_id: at for at, point in enumerate(point for point in points if point.counts)}
    known = [(at_report[change.point.report_id], change.factor > 1) for change in earlier]
    known += [(at_report[report], factor > 1) for report, factor in noted.items() if report in at_report]
    return [
        change
        for change in changes
        if not any(
            is_faster == (change.factor > 1) and abs(at - at_report[change.point.report_id]) <= MOVED_RESULTS
            for at, is_faster in known
        )
    ]


def _rate_factor(ratio: Ratio, *, has_rates: bool) -> tuple[float, float | None, float | None]:
    """What a ratio of samples is of rates, with its interval."""
    if has_rates:
        return ratio.value, ratio.low, ratio.high
    return 1 / ratio.value, 1 / ratio.high if ratio.high else None, 1 / ratio.low if ratio.low else None


def _decision_at(at: int, decisions: Sequence[ChangeDecision], at_report: Mapping[UUID, int]) -> ChangeDecision | None:
    near = (each for each in decisions if abs(at_report.get(each.report_id, -1000) - at) <= NEAR_RESULTS)
    return next(near, None)


def _newest_of_each(decisions: Sequence[ChangeDecision]) -> list[ChangeDecision]:
    newest: dict[UUID, ChangeDecision] = {}
    for decision in decisions:
        newest.setdefault(decision.report_id, decision)
    return list(newest.values())


def decide_change(series: Series, report: UUID, answer: str, by: Visitor, note: str = "") -> ChangeDecision:
    """Record what a member says of the change that begins with this report. Raises ValidationError naming the field."""
    note = " ".join(note.replace("\x00", " ").split())  # PostgreSQL refuses NUL
    if answer not in ChangeDecision.Answer.values:
        raise ValidationError({"answer": _("Choose to confirm or to dismiss.")})
    if len(note) > NOTE_CHARS:
        raise ValidationError({"note": _("The note is too long: at most %(n)d characters.") % {"n": NOTE_CHARS}})
    change = next((each for each in history_of(series).change_points if each.point.report_id == report), None)
    if change is None:
        raise ValidationError({"report": _("No change begins with this report any more. Reload the page.")})
    return ChangeDecision.objects.create(
        series=series,
        report_id=report,
        since=change.point.measured_at,
        factor=change.factor,
        answer=answer,
        note=note,
        by_id=by.pk,
    )


# --- the result a machine is asked for first ---

_SIDE = 8192  # large enough for every accelerator, measured by quick runs too
LEAST_STEP = 0.02  # a smaller difference of two results is not told from noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """`factor`: rate now over rate before; None where there is nothing before it. `before`: the result it is against.

    `is_level`: of a change of level, not of two single results. `causes`: what the stack states differently.
    """

    history: SeriesHistory
    counted: int
    factor: float | None = None
    before: Point | None = None
    is_level: bool = False
    causes: Sequence[StackDifference] = ()

    @property
    def is_steady(self) -> bool:
        return self.factor is not None and abs(self.factor - 1) < LEAST_STEP


def headline_result(results: Iterable[Measurement]) -> Measurement | None:
    """The result a machine's page begins with: on a card before the CPU, the product in bf16 before other settings."""
    ranked = [result for result in results if result.rate and is_rankable(result)]
    return min(ranked, key=_order, default=None)


def _order(result: Measurement) -> tuple[object, ...]:
    side = result.params.get("m", 0)
    return (
        not is_accelerated(result),
        benchmark_place(result.benchmark_key),
        dtype_place(result.params.get("dtype")),
        side != _SIDE,
        -(side if isinstance(side, int) else 0),
        -(result.rate.speed if result.rate else 0.0),
    )


def trend_of(result: Measurement) -> Trend:
    """How the series of this result moved over its newest results. Four queries."""
    series = Series(
        pk=result.series_id,
        machine_id=result.machine_id,
        benchmark=result.benchmark_key,
        version=result.version,
        card_index=result.card_index,
    )
    return found_trend(history_of(series, RECENT_POINTS), result)


def found_trend(history: SeriesHistory, result: Measurement) -> Trend:
    """The newest change of level that nobody dismissed; without one the newest result beside the one it follows.

    That is the last one before the stack changed for the last time, or else the one right before.
    """
    counted = [point for point in history.points if point.counts]
    changes = [change for change in history.change_points if not change.is_dismissed]
    if changes:
        change = changes[-1]
        return Trend(
            history=history,
            counted=len(counted),
            factor=change.factor,
            before=change.last_before,
            is_level=True,
            causes=change.causes,
        )
    if len(counted) < 2:
        return Trend(history=history, counted=len(counted))
    before, causes = _before_last_stack_change(history) or (counted[-2], ())
    return Trend(
        history=history, counted=len(counted), factor=_factor(result, before, counted[-1]), before=before, causes=causes
    )


def _before_last_stack_change(history: SeriesHistory) -> tuple[Point, Sequence[StackDifference]] | None:
    for change in reversed(history.stack_changes):
        before = history.points[change.index - 1]
        if before.counts and any(point.counts for point in history.points[change.index :]):
            return before, change.differences
    return None


def _factor(result: Measurement, before: Point, now: Point) -> float | None:
    if result.benchmark is None:
        return None
    then, newest = (result.benchmark.rate(result.params, point.seconds) for point in (before, now))
    if not newest or not then:
        return None
    return then / newest if result.benchmark.is_time else newest / then
