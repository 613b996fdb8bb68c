"""The keys of a lab: made, replaced and revoked by its members, with when each was last used and ends."""

from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from stackviz.pages.machines.add import KeyForm, agent_commands, agent_digest
from stackviz.records.labs.keys import KeyForbidden, rotate_key
from stackviz.records.labs.models import AgentKey, Lab
from stackviz.records.labs.queries import Visitor, visible_labs
from stackviz.records.labs.rights import LabRights, rights_in
from stackviz.web.address import text_parameter
from stackviz.web.key_paging import key_page, page_cut

KEYS_PER_PAGE = 50
_ENDS_IN = {
    "day": (timedelta(days=1), gettext_lazy("in a day")),
    "week": (timedelta(days=7), gettext_lazy("in a week")),
    "now": (timedelta(0), gettext_lazy("at once")),
}


def lab_of_member(request: HttpRequest, slug: str) -> tuple[Lab, LabRights]:
    """The lab and the visitor's rights in it. 404 for a lab that is not to be seen, 403 for who is not of it."""
    lab = get_object_or_404(visible_labs(request.user), slug=slug)
    rights = rights_in(request.user, lab)
    if not rights.is_of_lab:
        raise PermissionDenied
    return lab, rights


def _keys_of(lab: Lab, user: Visitor, rights: LabRights) -> QuerySet[AgentKey]:
    """Those that this person may see: owners all, members the ones they made."""
    keys = AgentKey.objects.filter(lab=lab).select_related("lab", "machine__lab", "created_by")
    return keys if rights.may_rule else keys.filter(created_by_id=user.pk)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def keys_page(request: HttpRequest, lab: str) -> HttpResponse:
    """A POST makes a key; its text is in that answer and nowhere else. `?all` lists also those that no longer work."""
    of_lab, rights = lab_of_member(request, lab)
    if not rights.may_work:
        raise PermissionDenied
    readable = [of_lab] if rights.may_rule else []
    form = KeyForm([of_lab], request.POST or None, readable=readable)
    key, secret = None, ""
    if form.is_bound and form.is_valid():
        key, secret = form.create(request.user)
        form = KeyForm([of_lab], readable=readable)
    shows_all = "all" in request.GET
    keys = _keys_of(of_lab, request.user, rights)
    now = timezone.now()
    if not shows_all:
        keys = keys.filter(revoked_at__isnull=True).exclude(expires_at__lte=now)
    context = {
        "lab": of_lab,
        "rights": rights,
        "form": form,
        "key": key,
        "secret": secret,
        "page": key_page(
            keys, "created_at", page_cut(request, KEYS_PER_PAGE), KEYS_PER_PAGE, lambda row: (row.created_at, row.pk)
        ),
        "shows_all": shows_all,
        "now": now,
        "soon": now + timedelta(days=14),
        "commands": agent_commands(request.build_absolute_uri("/").rstrip("/"), secret)
        if key and key.scope == key.Scope.SEND
        else None,
        "digest": agent_digest(),
    }
    return render(request, "machines/lab_keys.html", context, status=422 if form.is_bound else 200)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rotate_page(request: HttpRequest, lab: str, prefix: str) -> HttpResponse:
    """A GET asks when the old key ends; a POST makes the new one, whose text is in that answer and nowhere else."""
    of_lab, rights = lab_of_member(request, lab)
    if not rights.may_work:
        raise PermissionDenied
    key = get_object_or_404(_keys_of(of_lab, request.user, rights), prefix=prefix)
    ends, problem, made, secret = text_parameter(request, "ends"), "", None, ""
    if request.method == "POST":
        ends = request.POST.get("ends", "")
        if ends in _ENDS_IN:
            try:
                made, secret = rotate_key(key, _ENDS_IN[ends][0], request.user.pk)
                key.refresh_from_db()
            except KeyForbidden:
                problem = _("This key no longer works, so there is nothing to replace. Make a new one.")
        else:
            problem = _("Choose when the old key ends.")
    context = {
        "lab": of_lab,
        "rights": rights,
        "key": key,
        "made": made,
        "secret": secret,
        "problem": problem,
        "choices": [(value, words) for value, (_ends_in, words) in _ENDS_IN.items()],
        "here": reverse("machines:rotate", args=[of_lab.slug, key.prefix]),
    }
    return render(request, "machines/rotate.html", context, status=422 if problem else 200)
