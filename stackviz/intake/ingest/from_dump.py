"""A pasted dump becomes a report of a machine: masked, then taken in by the same path as an agent's.

For members of a lab. The text is read again after it was masked: what is stored was never anything else.
"""

from http import HTTPStatus

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.intake.ingest.api import refusing
from stackviz.intake.ingest.from_dump_add import add_machine
from stackviz.intake.ingest.from_dump_form import AddForm, labs_to_add_to
from stackviz.intake.report_parts.pace import paced, refused_for_now
from stackviz.intake.report_parts.pasted import MOST_MACHINES, Refused, mask_pasted, read_pasted, text_of_form
from stackviz.report.importers.deadline import Deadline
from stackviz.web.errors import Refusal
from stackviz.web.rate_limit import RateLimited, ask_to_wait
from stackviz.web.reverse import address_by_name

DIAGNOSE = "diagnose:page"  # of a room beside this one


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("text")
@csrf_exempt  # the token is in the body, so the body's size is looked at first; then `_add` asks for the token
def add_from_dump(request: HttpRequest) -> HttpResponse:
    """First the masked text with the choice of lab and names; sent again with those it is added."""
    if request.method != "POST":
        return redirect(DIAGNOSE)
    if not request.user.is_authenticated:
        return redirect_to_login(address_by_name(DIAGNOSE))
    try:
        text = text_of_form(request)
        with paced(request, text) as deadline:
            return _add(request, text, deadline)
    except RateLimited as limited:
        return ask_to_wait(_refuse(request, refused_for_now(limited)), limited)
    except Refused as refused:
        return _refuse(request, refused)


@csrf_protect
def _add(request: HttpRequest, text: str, deadline: Deadline) -> HttpResponse:
    labs = labs_to_add_to(request.user)
    if not labs:
        problem = _("You are not a member of any lab that you can add machines to. Ask the administrator of this site.")
        raise Refused(problem, HTTPStatus.FORBIDDEN, None)
    masked = mask_pasted(text, deadline)
    machines = read_pasted(masked, deadline).machines[:MOST_MACHINES]
    form = AddForm(labs, machines, request.POST if "lab" in request.POST else None)
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return render(request, "ingest/from_dump.html", {"form": form, "text": masked}, status=status)
    lab = form.labs[form.cleaned_data["lab"]]
    try:
        with refusing():
            added = [
                add_machine(lab, request.user, machine, name, masked) for machine, name in form.named(form.cleaned_data)
            ]
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        context = {"form": form, "text": masked}
        return render(request, "ingest/from_dump.html", context, status=refusal.status_code)
    if len(added) == 1:
        return redirect(added[0].receipt)
    return render(request, "ingest/from_dump_added.html", {"added": added, "lab": lab})


def _refuse(request: HttpRequest, refused: Refused) -> HttpResponse:
    return render(request, "ingest/from_dump.html", {"form": None, "refused": refused}, status=refused.status)
