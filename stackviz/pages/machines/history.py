"""What happened to a series, in words: changes of its stack, changes of its level, and what members decided of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.base.units import format_number, from_si, quantity_label, readable_unit, unit_label
from stackviz.draw.charts.history import HistoryLevel, HistoryMark, HistoryPoint
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import Visitor, rights_in
from stackviz.records.series.history import ChangePoint, SeriesHistory, StackDifference
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.models import ChangeDecision
from stackviz.records.series.words import sample_text, size_text
from stackviz.report.measuring import Benchmark
from stackviz.web.http.addresses import address_by_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A change of level. `size`: `5 % slower`; `why`: what changed around it; `levels`: `785 → 746 TFLOP/s (4 to 6 %)`.

    `report`: names it in a form; None for a confirmed change that is no longer found.
    """

    size: str
    is_slower: bool
    since: datetime
    levels: str
    why: str
    is_near: bool
    receipt_url: str
    report: UUID | None
    decision: ChangeDecision | None

    @property
    def is_dismissed(self) -> bool:
        return self.decision is not None and self.decision.answer == ChangeDecision.Answer.DISMISSED


def changes_of_series(
    history: SeriesHistory, measured: Measurement, machine: Machine, visitor: Visitor, *, listed: int = 0
) -> dict[str, object]:
    """Return changes of level and of the stack, newest first. One query, for somebody who is logged in.

    `stack_changes` leaves out those of the newest results, which are `listed` with theirs elsewhere on the page.
    """
    rows = change_rows(history, measured.benchmark, measured.params)
    return {
        "changes": [row for row in rows if not row.is_dismissed],
        "dismissed": [row for row in rows if row.is_dismissed],
        "stack_changes": [
            (history.points[change.index], differences_text(change.differences))
            for change in reversed(history.stack_changes)
            if change.index < len(history.points) - listed
        ],
        "has_stack_changes": bool(history.stack_changes),
        "decide_url": reverse("machines:change", args=[machine.lab.slug, machine.slug, measured.series_id]),
        "may_decide": may_decide(visitor, machine),
    }


def change_rows(history: SeriesHistory, benchmark: Benchmark | None, params: Mapping[str, Any]) -> list[ChangeRow]:
    """Return changes of level, newest first, and confirmed ones that are no longer found."""
    rows = [_change_row(change, benchmark, params) for change in history.change_points]
    rows += [_undetected_row(decision, benchmark) for decision in history.undetected]
    return sorted(rows, key=lambda row: row.since, reverse=True)


def may_decide(visitor: Visitor, machine: Machine) -> bool:
    """Members of its lab who are no viewers, and superusers. One query at most."""
    return rights_in(visitor, machine.lab).may_work


def _change_row(change: ChangePoint, benchmark: Benchmark | None, params: Mapping[str, Any]) -> ChangeRow:
    before = rate_text(benchmark, params, change.seconds_before)
    after = rate_text(benchmark, params, change.seconds_after)
    return ChangeRow(
        size=size_text(change.factor, benchmark),
        is_slower=change.factor < 1,
        since=change.point.measured_at,
        levels=f"{before} → {after}{_interval_text(change)}",
        why=differences_text(change.causes) or _("nothing we read changed"),
        is_near=change.is_near,
        receipt_url=address_by_id("ingest:receipt", change.point.report_id),
        report=change.point.report_id,
        decision=change.decision,
    )


def _undetected_row(decision: ChangeDecision, benchmark: Benchmark | None) -> ChangeRow:
    return ChangeRow(
        size=size_text(decision.factor, benchmark),
        is_slower=decision.factor < 1,
        since=decision.since,
        levels="",
        why=_("no longer found in the newest results"),
        is_near=False,
        receipt_url=address_by_id("ingest:receipt", decision.report_id),
        report=None,
        decision=decision,
    )


def _interval_text(change: ChangePoint) -> str:
    """` (4.2 to 5.6 %)`; "" where a level has too few results, or the interval includes no change."""
    if change.low is None or change.high is None or (change.low - 1) * (change.high - 1) <= 0:
        return ""
    least, most = sorted(abs(end - 1) * 100 for end in (change.low, change.high))
    return (
        " (" + _("%(least)s to %(most)s %%") % {"least": format_number(least, 2), "most": format_number(most, 2)} + ")"
    )


def rate_text(benchmark: Benchmark | None, params: Mapping[str, Any], seconds: float) -> str:
    """`781 TFLOP/s`; the sample itself where no rate is defined."""
    rate = benchmark.rate(params, seconds) if benchmark else None
    if benchmark is None or rate is None:
        return sample_text(seconds, benchmark.sample_unit if benchmark else "s", digits=3)
    return quantity_label(rate, benchmark.unit_of(params), digits=3)


def differences_text(differences: Sequence[StackDifference]) -> str:
    """`NVIDIA driver 550.54 → 560.28, PyTorch 2.12 → 2.13`; "" for none."""
    return ", ".join(
        f"{fact_title(each.fact)} {fact_value(each.fact, each.before)} → {fact_value(each.fact, each.after)}"
        for each in differences
    )


def fact_title(fact: str) -> str:
    """A watched fact in the reader's language."""
    return {
        "nvidia.driver_version": _("NVIDIA driver"),
        "cuda.runtime_version": _("CUDA runtime"),
        "torch.version": _("PyTorch"),
        "python.version": _("Python"),
        "os.name": _("System"),
        "os.version": _("System version"),
        "os.kernel": _("Kernel"),
        "power_limit_w": _("Power limit"),
    }.get(fact, fact)


def fact_value(fact: str, value: str) -> str:
    """As a report states it, shortened."""
    return f"{value.removesuffix('.0')} W" if fact == "power_limit_w" else value[:60]


# The history as points, levels and marks of a chart, in its unit.


InUnit = Callable[[float | None], float | None]


@dataclass(frozen=True, slots=True)
class DrawnHistory:
    """`unit`: of all values. `levels`: on both sides of each change that nobody dismissed, none without one."""

    unit: str
    points: Sequence[HistoryPoint]
    levels: Sequence[HistoryLevel]
    marks: Sequence[HistoryMark]


def draw_history(history: SeriesHistory, benchmark: Benchmark, params: Mapping[str, Any]) -> DrawnHistory | None:
    """None while fewer than two points have a rate."""
    rates = [benchmark.rates(params, point.seconds, point.low, point.high) for point in history.points]
    known = [rate for rate, _low, _high in rates if rate is not None]
    if len(known) < 2:
        return None
    symbol = readable_unit(max(known), benchmark.unit_of(params))

    def in_unit(rate: float | None) -> float | None:
        return None if rate is None else from_si(rate, symbol)

    return DrawnHistory(
        unit=unit_label(symbol),
        points=[
            HistoryPoint(point.measured_at, in_unit(rate), in_unit(low), in_unit(high))
            for point, (rate, low, high) in zip(history.points, rates, strict=True)
        ],
        levels=_levels(history, lambda sample: in_unit(benchmark.rate(params, sample))),
        marks=[
            HistoryMark(history.points[change.index].measured_at, differences_text(change.differences))
            for change in history.stack_changes
        ],
    )


def signed_percent(factor: float) -> str:
    """`−5 %`, `+12 %`, of a rate: short, because several stand in one chart."""
    return f"{'−' if factor < 1 else '+'}{format_number(abs(factor - 1) * 100, 2)} %"


def _levels(history: SeriesHistory, shown: InUnit) -> list[HistoryLevel]:
    changes = [change for change in history.change_points if not change.is_dismissed]
    if not changes:
        return []
    counted = [point for point in history.points if point.counts]
    starts = [counted[0], *(change.point for change in changes)]
    ends = [*(change.last_before for change in changes), counted[-1]]
    labels = ["", *(signed_percent(change.factor) for change in changes)]
    levels = []
    for start, end, label in zip(starts, ends, labels, strict=True):
        stretch = counted[counted.index(start) : counted.index(end) + 1]
        value = shown(median(point.seconds for point in stretch if point.seconds is not None))
        if value is not None:
            levels.append(HistoryLevel(start.measured_at, end.measured_at, value, label))
    return levels
