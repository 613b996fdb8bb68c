"""Owners of a lab and staff rename a machine, merge it with its double, split it, and undo that."""

from collections.abc import Callable, Mapping
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Max, Min, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from stackviz.records.labs.heartbeats import expect_no_more, signs_of_life
from stackviz.records.labs.models import Machine, MachineMove, Report
from stackviz.records.labs.queries import Visitor, machine_merged_into, manages_all, may_manage, visible_machines
from stackviz.records.labs.withdraw import may_withdraw
from stackviz.records.series.merge_machines import SPLIT_AT_ONCE, checked_name, merge_machines, split_machine, undo_move

MACHINES_OFFERED = 500
REPORTS_OFFERED = 100
MOVES_SHOWN = 20
COUNTED = 10_000


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """`?merge=<slug>` previews a merge into that machine, `?split` lists the reports to choose from."""
    rows = Machine.objects.filter(merged_into__isnull=True).select_related("lab")
    known = rows if manages_all(request.user) else visible_machines(request.user)
    machine = known.filter(lab__slug=lab, slug=slug).first()
    if machine is None:
        return _of_merged(request, lab, slug)
    if not may_manage(request.user, machine.lab):
        raise PermissionDenied
    problems: list[str] = []
    if request.method == "POST":
        action = _ACTIONS.get(request.POST.get("do", ""))
        if action is None:
            raise Http404
        try:
            return redirect(action(request, machine))
        except ValidationError as error:
            problems = error.messages
    return render(
        request, "machines/manage.html", _context(request, machine, problems), status=422 if problems else 200
    )


def _of_merged(request: HttpRequest, lab: str, slug: str) -> HttpResponse:
    """What is sent to a machine that is merged by now, as by a button pressed twice, leads to the one that stays."""
    pair = machine_merged_into(request.user, lab, slug) if request.method == "POST" else None
    if pair is None or not may_manage(request.user, pair[1].lab):
        raise Http404
    merged, target = pair
    messages.info(request, _("%(name)s was merged into another machine meanwhile.") % {"name": merged.name})
    return redirect(target)


def _address_for(user: Visitor, machine: Machine) -> str:
    """The machine's page; the page that manages it for staff who are in no lab that could see it. One query."""
    if visible_machines(user).filter(pk=machine.pk).exists():
        return machine.get_absolute_url()
    return reverse("machines:manage", args=[machine.lab.slug, machine.slug])


def _context(request: HttpRequest, machine: Machine, problems: list[str]) -> dict[str, object]:
    """Of the page; eleven queries at most."""
    others = Machine.objects.filter(lab=machine.lab_id, merged_into__isnull=True).exclude(pk=machine.pk)
    wanted = request.POST.get("target") or request.GET.get("merge", "")
    other = others.filter(slug=wanted).select_related("lab").first() if wanted else None
    is_splitting = "split" in request.GET or request.POST.get("do") == "split"
    moves = MachineMove.objects.filter(Q(source=machine) | Q(target=machine))
    return {
        "machine": machine,
        "problems": problems,
        "others": others.order_by("slug")[:MACHINES_OFFERED] if other is None else (),
        "other": other,
        "sides": [_summary(machine), _summary(other)] if other is not None else (),
        "is_splitting": is_splitting,
        "reports": _offered_reports(machine) if is_splitting else (),
        "chosen": set(request.POST.getlist("report")),
        "moves": moves.select_related("source__lab", "target__lab", "made_by", "undone_by")[:MOVES_SHOWN],
        "posted": request.POST,
        "sign": signs_of_life([machine]).get(machine.pk),
        "may_withdraw": may_withdraw(request.user, machine.lab),
    }


def _summary(machine: Machine) -> dict[str, object]:
    """Return one side of a merge. Three queries."""
    reports = Report.objects.filter(machine=machine).order_by()
    counted = reports[: COUNTED + 1].count()
    ends = reports.aggregate(first=Min("received_at"), last=Max("received_at"))
    cards: tuple[str, ...] = ()
    if machine.latest_snapshot is not None:
        cards = tuple(dict.fromkeys(machine.latest_snapshot.cards.values_list("reported_name", flat=True)))
    return {
        "machine": machine,
        "reports": f"{counted:,}" if counted <= COUNTED else _("more than %(n)s") % {"n": f"{COUNTED:,}"},
        "cards": cards,
        "keys": machine.keys.filter(revoked_at__isnull=True).count(),
        **ends,
    }


def _offered_reports(machine: Machine) -> list[Report]:
    rows = Report.objects.filter(machine=machine).select_related("snapshot", "key").defer("body")
    return list(rows.order_by("-received_at")[:REPORTS_OFFERED])


def _rename(request: HttpRequest, machine: Machine) -> str:
    """The address stays: links, receipts and comparisons go on working."""
    name = checked_name(request.POST.get("name", ""))
    if name != machine.name:
        machine.name = name
        machine.save(update_fields=["name"])
        messages.success(request, _("Renamed to “%(name)s”. The address of the page stays.") % {"name": name})
    return _address_for(request.user, machine)


def _merge(request: HttpRequest, machine: Machine) -> str:
    rows = Machine.objects.filter(lab=machine.lab_id).select_related("lab")
    target = rows.filter(slug=request.POST.get("target", "")).first()
    if target is None:
        raise ValidationError(_("Choose the machine to merge into."))
    move = merge_machines(machine, target, request.POST.get("reason", ""), request.user)
    text = ngettext(
        "Merged: %(n)d report is now with %(name)s. The old address leads here.",
        "Merged: %(n)d reports are now with %(name)s. The old address leads here.",
        move.report_count,
    )
    messages.success(request, text % {"n": move.report_count, "name": target.name})
    return _address_for(request.user, target)


def _split(request: HttpRequest, machine: Machine) -> str:
    chosen = [_uuid(text) for text in request.POST.getlist("report")[: SPLIT_AT_ONCE + 1]]
    move = split_machine(machine, chosen, request.POST.get("name", ""), request.POST.get("reason", ""), request.user)
    text = ngettext("%(n)d report moved to %(name)s.", "%(n)d reports moved to %(name)s.", move.report_count)
    messages.success(request, text % {"n": move.report_count, "name": move.target.name})
    return _address_for(request.user, Machine.objects.select_related("lab").get(pk=move.target_id))


def _expect_no_more(request: HttpRequest, machine: Machine) -> str:
    expect_no_more(machine)
    messages.success(request, _("The lab is no longer told when this machine is silent."))
    return _address_for(request.user, machine)


def _undo(request: HttpRequest, machine: Machine) -> str:
    text = request.POST.get("move", "")
    moves = MachineMove.objects.filter(Q(source=machine) | Q(target=machine)).select_related("source__lab", "target")
    move = moves.filter(pk=int(text)).first() if text.isdecimal() and len(text) < 18 else None
    if move is None:
        raise Http404
    staying = undo_move(move, request.user)
    messages.success(request, _("Undone."))
    if staying:
        text = ngettext(
            "%(n)d report that came in since stays with %(name)s; move it with a split.",
            "%(n)d reports that came in since stay with %(name)s; move them with a split.",
            staying,
        )
        messages.info(request, text % {"n": staying, "name": move.target.name})
    return reverse("machines:manage", args=[move.source.lab.slug, move.source.slug])


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ValidationError(_("Choose reports of this machine.")) from error


_ACTIONS: Mapping[str, Callable[[HttpRequest, Machine], str]] = {
    "rename": _rename,
    "merge": _merge,
    "split": _split,
    "undo": _undo,
    "expect-no-more": _expect_no_more,
}
