"""A machine beside its peers and beside its own past: outliers, changes of level, then and now."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number
from stackviz.draw.charts.sparkline import Sparkline, sparkline
from stackviz.pages.machines.history import (
    ChangeRow,
    change_rows,
    draw_history,
    fact_title,
    fact_value,
    may_decide,
    rate_text,
)
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import Visitor, visible_machines
from stackviz.records.series.history import SeriesHistory, recent_histories
from stackviz.records.series.measurement import benchmark, benchmark_titles, setting_label
from stackviz.records.series.models import Series
from stackviz.records.series.peers import PeerComparison, PeerDifference, compare_with_peers
from stackviz.records.series.public_runs import cached_for_strangers
from stackviz.records.series.queries import latest_results
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import render_part


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRow:
    """A setting beside its peers. `size`: `11 % below its peers`; `differences`: in words, of outliers."""

    url: str
    what: str
    size: str
    is_outlier: bool
    is_below: bool
    rate: str
    peer_rate: str
    peer_range: str
    peers: int
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutlierGroup:
    """Outliers that differ from their peers in the same."""

    rows: Sequence[PeerRow]
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRowOfSeries:
    """A series with its line and what changed."""

    url: str
    what: str
    line: Sparkline | None
    unit: str
    changes: Sequence[ChangeRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachinePast:
    machine: Machine
    outliers: Sequence[OutlierGroup]
    others: Sequence[PeerRow]
    series: Sequence[PastRowOfSeries]


def machine_past(machine: Machine, visitor: Visitor) -> MachinePast:
    """At most sixteen queries, whatever is stored."""
    measurements = latest_results([machine])[machine.pk]
    peers = [_peer_row(comparison, machine) for comparison in compare_with_peers(machine, measurements, visitor)]
    is_member = may_decide(visitor, machine)
    return MachinePast(
        machine=machine,
        outliers=_grouped([row for row in peers if row.is_outlier]),
        others=[row for row in peers if not row.is_outlier],
        series=[
            _series_row(machine, series, history, is_member=is_member) for series, history in recent_histories(machine)
        ],
    )


def _grouped(outliers: Sequence[PeerRow]) -> list[OutlierGroup]:
    groups: dict[tuple[str, ...], list[PeerRow]] = {}
    for row in outliers:
        groups.setdefault(row.differences, []).append(row)
    return [OutlierGroup(rows, differences) for differences, rows in groups.items()]


def _series_url(machine: Machine, series: int) -> str:
    return reverse("machines:series", args=[machine.lab.slug, machine.slug, series])


def _peer_row(comparison: PeerComparison, machine: Machine) -> PeerRow:
    measured = comparison.measured
    return PeerRow(
        url=_series_url(machine, measured.series_id),
        what=f"{measured.title} {measured.setting} · {measured.device}",
        size=_share_text(comparison.factor),
        is_outlier=comparison.is_outlier,
        is_below=comparison.factor < 1,
        rate=rate_text(measured.benchmark, measured.params, comparison.seconds),
        peer_rate=rate_text(measured.benchmark, measured.params, comparison.peer_seconds),
        peer_range=_("%(least)s to %(most)s")
        % {
            "least": rate_text(measured.benchmark, measured.params, comparison.peer_most),
            "most": rate_text(measured.benchmark, measured.params, comparison.peer_least),
        },
        peers=comparison.peers,
        differences=tuple(_difference_text(each) for each in comparison.differences),
    )


def _share_text(factor: float) -> str:
    """`11 % below its peers`."""
    share = format_number(abs(factor - 1) * 100, 2)
    if factor < 1:
        return _("%(share)s %% below its peers") % {"share": share}
    return _("%(share)s %% above its peers") % {"share": share}


def _difference_text(difference: PeerDifference) -> str:
    """`Power limit 300 W (6 of 7 peers: 700 W)`."""
    if difference.fact == "throttle":
        return _("clock throttled: %(reasons)s") % {"reasons": difference.stated}
    words = {
        "fact": fact_title(difference.fact),
        "stated": fact_value(difference.fact, difference.stated),
        "common": fact_value(difference.fact, difference.common),
        "share": difference.share,
        "n": difference.peers,
    }
    return (
        ngettext(
            "%(fact)s %(stated)s (%(share)d of %(n)d peer: %(common)s)",
            "%(fact)s %(stated)s (%(share)d of %(n)d peers: %(common)s)",
            difference.peers,
        )
        % words
    )


def _series_row(machine: Machine, series: Series, history: SeriesHistory, *, is_member: bool) -> PastRowOfSeries:
    known = benchmark(series.benchmark, series.version)
    drawn = draw_history(history, known, series.params) if known else None
    title = benchmark_titles().get((series.benchmark, series.version), series.benchmark)
    rows = change_rows(history, known, series.params, is_member=is_member)
    return PastRowOfSeries(
        url=_series_url(machine, series.pk),
        what=f"{title} {setting_label(series.params)} · {series.device}",
        line=sparkline(drawn.points, drawn.levels, drawn.marks) if drawn else None,
        unit=drawn.unit if drawn else "",
        changes=[row for row in rows if not (row.decided and row.decided.is_dismissed)],
    )


@require_safe
@vary_on_htmx
def past(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """For htmx the tables alone, as a part of the machine's page. What it shows depends on who looks."""
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    if machine.latest_snapshot_id is None:
        raise Http404

    def draw(visitor: Visitor) -> tuple[str]:
        return (render_part("machines/_past.jinja", past=machine_past(machine, visitor)),)

    (body,) = cached_for_strangers(request.user, ("past", machine.pk), draw)
    if wants_partial(request):
        return HttpResponse(body)
    against_url = reverse("machines:against", args=[machine.lab.slug, machine.slug])
    return render(request, "machines/past.html", {"body": body, "against_url": against_url, "machine": machine})
