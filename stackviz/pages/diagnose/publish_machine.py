"""A lab machine as a public host: an owner of its lab sees all that will be public, sends it, and can withdraw it."""

from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from stackviz.intake.report_parts.pasted import Refused, refused_for_now
from stackviz.intake.report_parts.present import stored_report
from stackviz.pages.diagnose.models import PublishedMachine
from stackviz.pages.diagnose.publish import host_with_results, show_or_propose
from stackviz.records.cited.decide_host import withdraw_proposed_host
from stackviz.records.hosts.models import Host
from stackviz.records.labs.models import Machine, Snapshot
from stackviz.records.labs.queries import latest_snapshots, owns_lab, visible_machines
from stackviz.records.series.queries import latest_results
from stackviz.report.format import Result
from stackviz.report.measuring.llama_bench import LLAMA_BENCH
from stackviz.web.http.rate_limit import RateLimited


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def publish_machine(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """What would be public of the machine's newest report; once it was sent, what became of it."""
    machines = visible_machines(request.user).filter(latest_snapshot__isnull=False)
    machine = get_object_or_404(machines, lab__slug=lab, slug=slug)
    if not owns_lab(request.user, machine.lab):
        raise PermissionDenied
    published = PublishedMachine.objects.filter(machine=machine).exclude(proposal__host__state=Host.State.WITHDRAWN)
    proposals = [row.proposal for row in published.select_related("proposal__host")]
    if proposals and request.POST.get("do") == "withdraw":
        for proposal in proposals:
            withdraw_proposed_host(proposal)
        messages.success(request, _("The host was withdrawn. It is on no page and in no list any more."))
        return redirect(machine)
    if proposals:
        context = {"proposal": proposals[0], "host": proposals[0].host, "machine": machine}
        return render(request, "diagnose/proposed_host.html", context)
    return _show_or_propose(request, machine)


def _show_or_propose(request: HttpRequest, machine: Machine) -> HttpResponse:
    snapshot = latest_snapshots([machine])[machine.pk]
    judged = stored_report(snapshot)
    report = replace(judged.report, results=_llama_bench_results(machine, snapshot))
    try:
        return show_or_propose(
            request,
            lambda day: host_with_results(report, judged.cards, day),
            machine=machine,
            day=snapshot.taken_at.date(),
        )
    except Refused as refused:
        messages.error(request, refused.problem)
    except RateLimited as limited:
        messages.error(request, refused_for_now(limited).problem)
    return redirect(machine)


def _llama_bench_results(machine: Machine, snapshot: Snapshot) -> tuple[Result, ...]:
    """Return the medians of what llama-bench measured in this very report, without what is set aside."""
    return tuple(
        Result(
            benchmark=measured.benchmark_key,
            version=measured.version,
            device=measured.device,
            card=measured.card_index,
            params=dict(measured.params),
            state=measured.state,
            reason=None,
            unit=measured.unit,
            samples=(measured.summary.median,),
            started_at=None,
            duration_s=None,
            conditions={},
        )
        for measured in latest_results([machine], [snapshot])[machine.pk]
        if measured.report_id == snapshot.report_id
        and measured.benchmark_key == LLAMA_BENCH.key
        and measured.summary is not None
        and not measured.why_set_aside
    )


urlpatterns = [path("machines/<slug:lab>/<slug:slug>/publish/", publish_machine, name="publish-machine")]
