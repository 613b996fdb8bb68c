"""A machine against its own earlier self: what changed in its stack, and each result of then beside that of now."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.base.stats import Ratio, ratio
from stackviz.base.units import format_number
from stackviz.intake.report_parts.facts import fact_text, in_order, meaning_of
from stackviz.records.labs.delete_reports import standing_snapshots
from stackviz.records.labs.models import Machine, Snapshot
from stackviz.records.labs.queries import visible_machines
from stackviz.records.series.comparability import Comparability, comparable
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.queries import latest_results, results_until
from stackviz.report.format.facts import CARD_FACTS, FACTS
from stackviz.web.http.address import read_moment, text_parameter

MOST_CARDS = 64
EARLIER_REPORTS = 30  # offered to choose from


@require_safe
def against(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """`?report=<id>` or `?date=2026-10-02`; without either, or with one that names no report, the reports to choose."""
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    if machine.latest_snapshot_id is None:
        raise Http404
    then, problem = _chosen(request, machine)
    context: dict[str, object] = {
        "machine": machine,
        "problem": problem,
        "date": text_parameter(request, "date"),
        "earlier": _earlier(machine),
    }
    if then is not None:
        context |= against_itself(machine, then)
    return render(request, "machines/against.html", context)


def _chosen(request: HttpRequest, machine: Machine) -> tuple[Snapshot | None, str]:
    """(the snapshot, "") or (None, what is wrong). One query at most."""
    report, date = text_parameter(request, "report"), text_parameter(request, "date")
    snapshots = standing_snapshots(machine)
    if report:
        try:
            return snapshots.get(report=UUID(report)), ""
        except (ValueError, Snapshot.DoesNotExist):
            return None, _("This machine has no such report.")
    if not date:
        return None, ""
    moment = read_moment(date)
    if moment is None:
        return None, _("Enter a past date, such as 2026-10-02.")
    then = snapshots.filter(taken_at__lte=moment).first()
    return then, "" if then else _("This machine had sent no report by then.")


def _earlier(machine: Machine) -> list[tuple[UUID, datetime]]:
    """Reports before the newest one, newest first. One query."""
    rows = standing_snapshots(machine).values_list("report_id", "taken_at")
    return list(rows[1 : EARLIER_REPORTS + 1])


def against_itself(machine: Machine, then: Snapshot) -> dict[str, object]:
    """Return the facts and results that differ. At most thirteen queries, whatever is stored.

    `unchanged` is how many results are the same ones, not measured again since.
    """
    now = standing_snapshots(machine)[0]
    earlier = results_until(machine, then.taken_at)
    pairs = [(earlier[new.series_id], new) for new in latest_results([machine])[machine.pk] if new.series_id in earlier]
    measured_again = [(old, new) for old, new in pairs if old.report_id != new.report_id]
    return {
        "then": then,
        "now": now,
        "facts": _facts(then, now),
        "results": [_against_earlier(old, new) for old, new in measured_again],
        "unchanged": len(pairs) - len(measured_again),
    }


def _facts(then: Snapshot, now: Snapshot) -> list[tuple[str, str, str, str]]:
    """Return (name, meaning, then, now) of what differs, "" where it was not reported.

    Facts of the machine, of its cards, and versions of software, in the registry's order.
    """
    rows = [
        (name, meaning_of(name), fact_text(name, then.facts.get(name)), fact_text(name, now.facts.get(name)))
        for name in in_order({**then.facts, **now.facts}, FACTS)
        if then.facts.get(name) != now.facts.get(name)
    ]
    before, after = _cards(then), _cards(now)
    for index in sorted({*before, *after}):
        was, is_now = before.get(index, {}), after.get(index, {})
        rows += [
            (
                _("card %(n)d: %(fact)s") % {"n": index, "fact": name},
                meaning_of(name),
                fact_text(name, was.get(name)),
                fact_text(name, is_now.get(name)),
            )
            for name in CARD_FACTS
            if was.get(name) != is_now.get(name)
        ]
    software_then, software_now = _software(then), _software(now)
    rows += [
        (name, "", software_then.get(name, ""), software_now.get(name, ""))
        for name in sorted({*software_then, *software_now})
        if software_then.get(name) != software_now.get(name)
    ]
    return rows


def _cards(snapshot: Snapshot) -> dict[int, dict[str, Any]]:
    """Index -> facts. One query."""
    return dict(snapshot.cards.order_by("index").values_list("index", "facts")[:MOST_CARDS])


def _software(snapshot: Snapshot) -> dict[str, str]:
    return {
        str(item.get("component", "")): str(item.get("version") or _("version not reported"))
        for item in snapshot.software
    }


def _against_earlier(then: Measurement, now: Measurement) -> dict[str, object]:
    """Return both results with the rate now over the rate then and its interval; "" where they cannot be compared."""
    outcome = comparable(then, now)
    factor = None if outcome.answer == Comparability.NOT_COMPARABLE else _rate_factor(then, now)
    return {
        "then": then,
        "now": now,
        "factor": f"{format_number(factor.value, 3)}×" if factor else "",
        "interval": _interval(factor),
        "is_different": bool(factor and factor.is_different),
        "remarks": outcome.reasons,
    }


def _rate_factor(then: Measurement, now: Measurement) -> Ratio | None:
    """The rate now over the rate then. Where samples are seconds, fewer are faster."""
    if then.summary is None or now.summary is None:
        return None
    has_rates = now.benchmark is not None and now.benchmark.has_rates
    return ratio(now.summary, then.summary) if has_rates else ratio(then.summary, now.summary)


def _interval(factor: Ratio | None) -> str:
    if factor is None or factor.low is None or factor.high is None:
        return ""
    return _("%(least)s to %(most)s") % {"least": format_number(factor.low, 3), "most": format_number(factor.high, 3)}
