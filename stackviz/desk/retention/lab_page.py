"""A lab's data, for its owners: all of it as one archive, and withdrawing a machine or the lab."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from stackviz.desk.retention.export import export_lab
from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab, Machine
from stackviz.records.labs.queries import is_staff_who_may, visible_labs
from stackviz.records.labs.withdraw import confirmation_problem, may_withdraw, what_goes, withdraw_lab, withdraw_machine
from stackviz.web.http.rate_limit import RateLimit, RateLimited, too_many

MACHINES_OFFERED = 500
EXPORTS = RateLimit("exports", "EXPORTS_PER_HOUR", 3600, "too many archives of this account")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def lab_data(request: HttpRequest, lab: str) -> HttpResponse:
    """`?machine=<slug>` and `?withdraw` say what would go and ask; a POST does it when the name was typed."""
    owned_lab = _lab_of_owner(request, lab)
    problem = ""
    if request.method == "POST":
        address, problem = _withdraw(request, owned_lab)
        if not problem:
            return redirect(address)
    wanted = request.POST.get("machine") or request.GET.get("machine", "")
    chosen = Machine.objects.filter(lab=owned_lab, slug=wanted).first() if wanted else None
    is_whole = chosen is None and ("withdraw" in request.GET or request.method == "POST")
    counts = what_goes(chosen or owned_lab) if chosen or is_whole else {}
    context = {
        "lab": owned_lab,
        "machines": Machine.objects.filter(lab=owned_lab, merged_into__isnull=True).order_by("slug")[:MACHINES_OFFERED],
        "chosen": chosen,
        "is_whole": is_whole,
        "counts": {name: count for name, count in counts.items() if count != "0"},
        "problem": problem,
        "per_hour": settings.EXPORTS_PER_HOUR,
    }
    return render(request, "retention/lab.html", context, status=422 if problem else 200)


@login_required
@never_cache
@require_safe
def download(request: HttpRequest, lab: str) -> HttpResponseBase:
    """The archive, made while it is sent."""
    owned_lab = _lab_of_owner(request, lab)
    try:
        EXPORTS.count_for(str(request.user.pk))
    except RateLimited as limited:
        return too_many(limited)
    with transaction.atomic():
        record("lab.exported", f"lab {owned_lab.pk}", request.user)
    answer = StreamingHttpResponse(export_lab(owned_lab), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{owned_lab.slug}-{timezone.now():%Y-%m-%d}.zip"'
    answer.headers["Content-Encoding"] = "identity"  # it is compressed: compressing it again takes time alone
    return answer


def _lab_of_owner(request: HttpRequest, slug: str) -> Lab:
    """The lab, for who may withdraw it. A private one of others does not exist."""
    is_staff = is_staff_who_may(request.user, "labs.delete_lab")
    lab = get_object_or_404(Lab.objects.all() if is_staff else visible_labs(request.user), slug=slug)
    if not may_withdraw(request.user, lab):
        raise PermissionDenied
    return lab


def _withdraw(request: HttpRequest, lab: Lab) -> tuple[str, str]:
    """Do what was sent -> where to go then, and what was wrong."""
    typed = request.POST.get("confirm", "")
    if request.POST.get("do") == "lab":
        if problem := confirmation_problem(typed, lab.slug):
            return "", problem
        withdraw_lab(lab, request.user)
        messages.success(request, _("The lab was withdrawn, with all that its machines had sent."))
        return "machines:list", ""
    machine = Machine.objects.filter(lab=lab, slug=request.POST.get("machine", "")).first()
    if machine is None:
        raise Http404
    if problem := confirmation_problem(typed, machine.slug):
        return "", problem
    withdraw_machine(machine, request.user)
    messages.success(request, _("%(name)s was withdrawn, with all that it had sent.") % {"name": machine.name})
    return request.path, ""
