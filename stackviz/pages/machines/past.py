"""A machine beside its peers and beside its own past: outliers, changes of level, then and now."""

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from stackviz.base.units import format_number
from stackviz.draw.charts.sparkline import sparkline
from stackviz.pages.machines.history import (
    change_rows,
    draw_history,
    fact_title,
    fact_value,
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
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import render_part


def machine_past(machine: Machine, visitor: Visitor) -> SafeString:
    """Draw the machine beside its peers and its past. At most sixteen queries, whatever is stored."""
    peers = compare_with_peers(machine, latest_results([machine])[machine.pk], visitor)
    return render_part(
        "machines/_past.jinja",
        machine=machine,
        outliers=_grouped([peer for peer in peers if peer.is_outlier]),
        others=[_peer_row(peer) for peer in peers if not peer.is_outlier],
        series=[_past_of_series(series, history) for series, history in recent_histories(machine)],
    )


def _grouped(outliers: Sequence[PeerComparison]) -> list[tuple[tuple[str, ...], list[dict[str, object]]]]:
    """Return (differences in words, the outliers that differ from their peers in these)."""
    groups: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for peer in outliers:
        groups.setdefault(tuple(map(_difference_text, peer.differences)), []).append(_peer_row(peer))
    return list(groups.items())


def _peer_row(comparison: PeerComparison) -> dict[str, object]:
    """Return a setting against its peers. `size`: `11 % below its peers`."""
    measured = comparison.measured
    rate, peer, least, most = (
        rate_text(measured.benchmark, measured.params, seconds)
        for seconds in (comparison.seconds, comparison.peer_seconds, comparison.peer_most, comparison.peer_least)
    )
    return {
        "compared": comparison,
        "size": _share_text(comparison.factor),
        "rate": rate,
        "peer_rate": peer,
        "peer_range": _("%(least)s to %(most)s") % {"least": least, "most": most},
    }


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


def _past_of_series(series: Series, history: SeriesHistory) -> dict[str, object]:
    """Return a series with its line and the changes of its level."""
    known = benchmark(series.benchmark, series.version)
    drawn = draw_history(history, known, series.params) if known else None
    return {
        "series": series,
        "title": benchmark_titles().get((series.benchmark, series.version), series.benchmark),
        "setting": setting_label(series.params),
        "line": sparkline(drawn.points, drawn.levels, drawn.marks) if drawn else None,
        "changes": [row for row in change_rows(history, known, series.params) if not row.is_dismissed],
    }


@require_safe
@vary_on_htmx
def past(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """For htmx the tables alone, as a part of the machine's page. What it shows depends on who looks."""
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    if machine.latest_snapshot_id is None:
        raise Http404

    (body,) = cached_for_strangers(
        request.user, ("past", machine.pk), lambda visitor: (machine_past(machine, visitor),)
    )
    if wants_partial(request):
        return HttpResponse(body)
    against_url = reverse("machines:against", args=[machine.lab.slug, machine.slug])
    return render(request, "machines/past.html", {"body": body, "against_url": against_url, "machine": machine})
