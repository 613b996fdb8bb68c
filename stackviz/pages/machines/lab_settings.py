"""What owners decide about their lab as a whole: its name, and who sees its machines."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from stackviz.pages.machines.lab_keys import lab_of_member
from stackviz.records.labs.models import Lab, Machine


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings_page(request: HttpRequest, lab: str) -> HttpResponse:
    """The address stays when the name changes. Who sees the lab is changed with a tick that says what follows."""
    of_lab, rights = lab_of_member(request, lab)
    if not rights.may_rule:
        raise PermissionDenied
    problem = ""
    if request.method == "POST":
        problem = _change(request, of_lab)
        if not problem:
            return redirect("machines:settings", of_lab.slug)
        of_lab.refresh_from_db()
    machines = Machine.objects.filter(lab=of_lab, merged_into__isnull=True)
    context = {
        "lab": of_lab,
        "rights": rights,
        "machine_count": machines.count(),
        "problem": problem,
    }
    return render(request, "machines/lab_settings.html", context, status=422 if problem else 200)


def _change(request: HttpRequest, lab: Lab) -> str:
    """Do what the form asks for -> why not; "" if it was done."""
    action = request.POST.get("do", "")
    if action == "rename":
        name = " ".join(request.POST.get("name", "").split())
        if not name or len(name) > 100:
            return _("Write a name of at most 100 characters.")
        lab.name = name
        lab.save(update_fields=["name"])  # saved, not updated: the audit log and the search hear of it
        messages.success(request, _("Renamed to “%(name)s”. The address of the page stays.") % {"name": name})
    elif action in {"publish", "hide"}:
        if not request.POST.get("sure"):
            return _("Tick that you are sure; nothing was changed.")
        lab.is_public = action == "publish"
        lab.save(update_fields=["is_public"])
        shown = _("Everybody sees this lab now.")
        messages.success(request, shown if action == "publish" else _("Only people of the lab see it now."))
    else:
        raise Http404
    return ""
