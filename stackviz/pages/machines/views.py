"""Lab machines: the list, a lab's fleet, one machine, one of its series, the agent's file. No models of its own."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db.models import F, Q
from django.db.models.fields.json import KeyTransform
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stackviz.draw.diagrams.svg import svg_of
from stackviz.intake.notices.queries import webhook_disabled_at
from stackviz.pages.machines.fleet import GROUPS, STATES, fleet_csv, fleet_groups, fleet_machines, fleet_query
from stackviz.pages.machines.hosts_list import READ_ELSEWHERE, hosts, hosts_context
from stackviz.pages.machines.hosts_query import FORMATS, read_hosts_query
from stackviz.pages.machines.hosts_rows import known_hosts
from stackviz.pages.machines.page import (
    latest_machine,
    machine_context,
    machine_drawing,
    seen_token,
)
from stackviz.pages.machines.report_rows import REPORTS_PER_PAGE
from stackviz.pages.machines.results import results_csv, series_csv
from stackviz.pages.machines.rows import MACHINES_PER_PAGE, machine_rows, machines_found, machines_page
from stackviz.pages.machines.series import drawn_series, series_figure
from stackviz.records.catalog.queries import accelerators_by_slug
from stackviz.records.labs.heartbeats import silent_machines
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import (
    Visitor,
    as_report,
    machine_detail,
    machine_merged_into,
    manages_all,
    owns_lab,
    rights_in,
    visible_labs,
    visible_machines,
)
from stackviz.records.labs.withdraw import may_withdraw
from stackviz.records.series.models import Series
from stackviz.records.series.public_runs import cached_for_strangers
from stackviz.records.stacks.lifecycle import life_table
from stackviz.report.rules.versions import numbers
from stackviz.web.http.address import text_parameter, whole_number
from stackviz.web.http.download import svg_response
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_cut
from stackviz.web.parts import render_part

STOP_POLLING = 286  # htmx's own status: the element that polls stops
NO_CHANGE = 204
POLLED_FOR = timedelta(hours=1)  # a page left open longer than this is no longer looked at


@require_safe
@serves_formats(*FORMATS)
@vary_on_htmx
def machine_list(request: HttpRequest) -> HttpResponse:
    """Public hosts, and all lab machines this visitor may see; for htmx the rows of lab machines alone.

    Both are those with one accelerator or a text where the address names it. A visitor who is signed in has lab
    machines first.
    """
    if request.GET.get("format"):
        return hosts(request)
    q, slug = text_parameter(request, "q"), text_parameter(request, "accelerator")
    accelerator = accelerators_by_slug([slug]).get(slug) if slug else None
    page = machines_page(machines_found(request.user, q=q, accelerator=slug), page_cut(request, MACHINES_PER_PAGE))
    rows = machine_rows(page.items, accelerator.pk if accelerator else None)
    context: dict[str, object] = {"q": q, "slug": slug, "accelerator": accelerator, "page": page, "rows": rows}
    if wants_partial(request):
        return render(request, "machines/_rows.html", context)
    known = known_hosts()
    if known.rows:
        context |= hosts_context(request, known, read_hosts_query(request.GET, known, READ_ELSEWHERE))
    context["has_labs"] = bool(rows) or not page.is_only or not known.rows
    context["labs_first"] = request.user.is_authenticated and bool(rows)
    return render(request, "machines/list.html", context)


@require_safe
@serves_formats("csv")
@vary_on_htmx
def lab_page(request: HttpRequest, lab: str) -> HttpResponse:
    """A lab's machines, filtered and in groups, or all of these as CSV. A private lab does not exist for strangers."""
    visible_lab = get_object_or_404(visible_labs(request.user), slug=lab)
    query = fleet_query(request)
    machines = fleet_machines(request.user, visible_lab, query)
    if request.GET.get("format") == "csv":
        return fleet_csv(request, visible_lab, machines)
    page = machines_page(machines, page_cut(request, MACHINES_PER_PAGE))
    context: dict[str, object] = {
        "lab": visible_lab,
        "page": page,
        "rows": machine_rows(page.items),
        "asked": query,
        "is_filtered": query.is_filtered,
        "groups": fleet_groups(machines, query),
        "group_title": GROUPS.get(query.group, ""),
        "group_choices": GROUPS.items(),
        "states": STATES.items(),
    }
    if not wants_partial(request):
        rights = rights_in(request.user, visible_lab)
        context |= {
            "silent": silent_machines(visible_lab),
            "rights": rights,
            "webhook_disabled_at": webhook_disabled_at(visible_lab) if rights.is_of_lab else None,
            "may_withdraw": may_withdraw(request.user, visible_lab),
        }
    template = "machines/_fleet.html" if wants_partial(request) else "machines/lab.html"
    return render(request, template, context)


@require_safe
@serves_formats("csv", "svg", parts=["words"])
@vary_on_htmx
def machine(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """One machine; while the page is open htmx polls for changes, and mostly gets a 304."""
    if wants_partial(request) and "seen" in request.GET:
        unchanged = _nothing_new(request, lab, slug)
        if unchanged is not None:
            return unchanged
    try:
        machine = latest_machine(request.user, lab, slug)
    except Machine.DoesNotExist as error:
        raise Http404 from error
    form = request.GET.get("format", "")
    if form in _FORMS:
        return _FORMS[form](request, machine)
    context = machine_context(machine, page_cut(request, REPORTS_PER_PAGE, "reports"))
    context["owns"] = owns_lab(request.user, machine.lab)
    context["may_manage"] = context["owns"] or manages_all(request.user)
    template = "machines/_machine.html" if wants_partial(request) else "machines/machine.html"
    return render(request, template, context)


def _drawing(request: HttpRequest, machine: Machine) -> HttpResponse:
    """Return the machine's stack as a file; there is none before its first report was read."""
    drawing = machine_drawing(machine)
    if drawing is None:
        raise Http404
    note = f"{request.build_absolute_uri(machine.get_absolute_url())} · {machine.latest_taken_at:%Y-%m-%d}"
    return svg_response(f"stack-{machine.slug}", svg_of(drawing, machine.name, note))


def _words(request: HttpRequest, machine: Machine) -> HttpResponse:
    """Return the machine's stack in words and as a table; for htmx these alone."""
    drawing = machine_drawing(machine)
    if drawing is None:
        raise Http404
    if wants_partial(request):
        return HttpResponse(render_part("diagrams/_words.jinja", drawing=drawing))
    return render(request, "machines/words.html", {"machine": machine, "drawing": drawing})


def _results(_request: HttpRequest, machine: Machine) -> HttpResponse:
    """Return the bars of its newest results as CSV."""
    file = results_csv(machine)
    if file is None:
        raise Http404
    return file


_FORMS: Mapping[str, Callable[[HttpRequest, Machine], HttpResponse]] = {
    "svg": _drawing,
    "words": _words,
    "csv": _results,
}


def _nothing_new(request: HttpRequest, lab: str, slug: str) -> HttpResponse | None:
    """The short answer to "is there anything newer than what I show?"; None when there is. Two queries."""
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    if seen_token(machine) != request.GET["seen"]:
        return None
    since = request.GET.get("since", "")
    opened = whole_number(since, max_digits=11) or 0
    is_stale = timezone.now().timestamp() - opened > POLLED_FOR.total_seconds()
    # htmx would swap in the empty answer of a 286, were it not told.
    return (
        HttpResponse(status=STOP_POLLING, headers={"HX-Reswap": "none"}) if is_stale else HttpResponse(status=NO_CHANGE)
    )


@require_safe
@serves_formats("csv", parts=["plotly"])
def series(request: HttpRequest, lab: str, slug: str, series_id: int) -> HttpResponse:
    """One benchmark setting on one machine: conditions, samples, history as chart and CSV, how to run it again."""
    machine = get_object_or_404(visible_machines(request.user), lab__slug=lab, slug=slug)
    try:
        if request.GET.get("format") == "csv":
            return _history(machine, series_id)
        if request.GET.get("format") == "plotly":
            return _figure(machine, series_id)
        title, body = cached_for_strangers(
            request.user,
            ("series", machine.pk, series_id),
            lambda visitor: drawn_series(request, machine, series_id, visitor),
        )
    except Series.DoesNotExist as error:
        raise Http404 from error
    return render(request, "machines/series.html", {"title": title, "body": body})


def _history(machine: Machine, series_id: int) -> HttpResponse:
    """The line over time, as CSV."""
    file = series_csv(machine, series_id)
    if file is None:
        raise Http404
    return file


def _figure(machine: Machine, series_id: int) -> JsonResponse:
    """The line over time, for plotly.js."""
    figure = series_figure(machine, series_id)
    if figure is None:
        raise Http404
    return JsonResponse(figure)


MOST_MACHINES = 500  # that reported last: so that the page costs the same however many there are
_NAMES = ("torch.version", "torch.operators", "torch.kernels_cpu", "torch.kernels_cuda", "torch.kernels_mps")


def counted_builds(visitor: Visitor) -> list[tuple[Any, ...]]:
    """Return (torch, operators, with a kernel on CPU, on CUDA, on MPS, machines that counted this), newest torch first.

    None where a build has no such device. One query, which reads these five facts alone.
    """
    reported = visible_machines(visitor).filter(latest_snapshot__isnull=False)
    newest = reported.order_by(F("latest_taken_at").desc(), "pk")[:MOST_MACHINES]
    facts = [KeyTransform(name, "latest_snapshot__facts") for name in _NAMES]
    counted = Counter(row for row in newest.values_list(*facts) if row[0] and row[1])
    rows = [(*row, machines) for row, machines in counted.items()]
    return sorted(rows, key=lambda row: (numbers(row[0]), row[0]), reverse=True)


@require_safe
@vary_on_htmx
def coverage_page(request: HttpRequest) -> HttpResponse:
    """A table; for htmx the table alone, to stand on the page of the operators."""
    template = "machines/_coverage.html" if wants_partial(request) else "machines/coverage.html"
    return render(request, template, {"builds": counted_builds(request.user), "most": MOST_MACHINES})


@require_safe
@vary_on_htmx
def life(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """As of today. For htmx the table alone; a machine that has reported nothing has none."""
    try:
        detail = machine_detail(request.user, lab, slug)
    except Machine.DoesNotExist as error:
        raise Http404 from error
    if detail.snapshot is None:
        raise Http404
    table = life_table(as_report(detail.snapshot, detail.cards, timezone.now()))
    if wants_partial(request):
        return HttpResponse(render_part("stacks/_life.jinja", life=table))
    context = {"life": table, "machine": detail.machine}
    return render(request, "machines/life.html", context)


View = Callable[..., HttpResponse]


def follows_merges(view: View) -> View:
    """A view of `lab` and `slug` that sends readers on instead of answering 404; not for good, as merges are undone."""

    @wraps(view)
    def answer(request: HttpRequest, lab: str, slug: str, **more: Any) -> HttpResponse:  # noqa: ANN401 - of the address
        try:
            return view(request, lab, slug, **more)
        except Http404:
            new = _new_address(request, lab, slug, more) if request.method in ("GET", "HEAD") else ""
            if not new:
                raise
        return HttpResponseRedirect(new)

    return answer


def _new_address(request: HttpRequest, lab: str, slug: str, more: dict[str, Any]) -> str:
    """ "" where nothing was merged. Two queries at most."""
    pair = machine_merged_into(request.user, lab, slug)
    if pair is None or request.resolver_match is None:
        return ""
    merged, target = pair
    if "series_id" in more:
        series = _same_setting(more["series_id"], merged, target)
        if series is None:
            return target.get_absolute_url()
        more = {**more, "series_id": series}
    address = reverse(request.resolver_match.view_name, kwargs={"lab": lab, "slug": target.slug, **more})
    query = request.META.get("QUERY_STRING", "")
    return f"{address}?{query}" if query else address


def _same_setting(series_id: int, merged: Machine, target: Machine) -> int | None:
    """The series of `target` with the setting of this series of `merged`. One query."""
    same_card = Q(card_index=F("machine__merged__series__card_index")) | Q(
        card_index__isnull=True, machine__merged__series__card_index__isnull=True
    )
    rows = Series.objects.filter(
        same_card,
        machine=target,
        machine__merged=merged,
        machine__merged__series=series_id,
        params_key=F("machine__merged__series__params_key"),
        benchmark=F("machine__merged__series__benchmark"),
        version=F("machine__merged__series__version"),
        device=F("machine__merged__series__device"),
    )
    return rows.values_list("pk", flat=True).first()
