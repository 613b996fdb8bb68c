"""The keys of a lab: made, replaced and revoked by its members; and the page that adds a machine with a new key."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from stackviz.desk.labs.agent_file import agent_commands, agent_digest
from stackviz.records.labs.keys import KeyForbidden, create_key, revoke, rotate_key
from stackviz.records.labs.models import AgentKey, Lab, Machine, Membership, Report
from stackviz.records.labs.queries import WORKING_ROLES, LabRights, Visitor, rights_in, visible_labs
from stackviz.web.http.address import text_parameter
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import key_page, page_cut

KEYS_PER_PAGE = 50
KEYS_SHOWN = 20
MACHINES_OFFERED = 200
LIFETIMES = (("90", gettext_lazy("90 days")), ("365", gettext_lazy("one year")), ("", gettext_lazy("until revoked")))
_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "[::1]"})
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


class KeyForm(forms.Form):
    """A new key: its name says where it will be used; it sends for any machine of a lab, for one only, or reads.

    `readable`: labs for which this person may make keys that read.
    """

    name = forms.CharField(max_length=100)
    scope = forms.ChoiceField()
    lifetime = forms.ChoiceField(choices=LIFETIMES, required=False)

    def __init__(self, labs: list[Lab], *args: Any, readable: Sequence[Lab] = (), **kwargs: Any) -> None:  # noqa: ANN401 (passed on)
        super().__init__(*args, **kwargs)
        self.labs = {f"lab:{lab.pk}": lab for lab in labs}
        self.readable = {f"read:{lab.pk}": lab for lab in readable}
        machines = Machine.objects.filter(lab__in=labs, merged_into__isnull=True).order_by("lab__slug", "slug")[
            :MACHINES_OFFERED
        ]
        self.machines = {f"machine:{machine.pk}": machine for machine in machines}
        cast("forms.ChoiceField", self.fields["scope"]).choices = self.scopes()

    def scopes(self) -> list[tuple[str, str]]:
        """(value, words): each lab, followed by its machines."""
        choices = []
        for value, lab in self.labs.items():
            choices.append((value, _("any machine of %(lab)s") % {"lab": lab.name}))
            of_lab = [(value, machine) for value, machine in self.machines.items() if machine.lab_id == lab.pk]
            choices += [(value, _("only %(machine)s") % {"machine": machine.name}) for value, machine in of_lab]
        return choices + [
            (value, _("nothing: it reads %(lab)s") % {"lab": lab.name}) for value, lab in self.readable.items()
        ]

    def create(self, user: Visitor) -> tuple[AgentKey, str]:
        """The key of a valid form -> (row, the text to show once)."""
        scope, lifetime = self.cleaned_data["scope"], self.cleaned_data["lifetime"]
        machine = self.machines.get(scope)
        lab = next(lab for lab in self.labs.values() if machine and lab.pk == machine.lab_id) if machine else None
        return create_key(
            lab=lab or self.labs.get(scope) or self.readable[scope],
            machine=machine,
            scope=AgentKey.Scope.READ if scope in self.readable else AgentKey.Scope.SEND,
            name=self.cleaned_data["name"],
            expires_at=timezone.now() + timedelta(days=int(lifetime)) if lifetime else None,
            created_by=user if user.is_authenticated else None,
        )


def own_labs(user: Visitor) -> list[Lab]:
    """Labs for which this person may make keys: not those that they only view. One query."""
    if not user.is_authenticated:
        return []
    if getattr(user, "is_superuser", False):
        return list(Lab.objects.all())
    return list(Lab.objects.filter(memberships__user_id=user.pk, memberships__role__in=WORKING_ROLES))


def own_keys(user: Visitor) -> QuerySet[AgentKey]:
    """Keys this person may see and revoke: the ones they made, and all of labs they own."""
    if not user.is_authenticated:
        return AgentKey.objects.none()
    keys = AgentKey.objects.select_related("lab", "machine__lab")
    if getattr(user, "is_superuser", False):
        return keys
    owned = Lab.objects.filter(memberships__user_id=user.pk, memberships__role=Membership.Role.OWNER)
    still_member = Lab.objects.filter(memberships__user_id=user.pk, memberships__role__in=WORKING_ROLES)
    return keys.filter(Q(created_by_id=user.pk, lab__in=still_member) | Q(lab__in=owned))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add_page(request: HttpRequest) -> HttpResponse:
    """How to add a machine. A POST makes a key; its text is in that answer and nowhere else."""
    labs = own_labs(request.user)
    if request.method == "POST" and not labs:
        raise PermissionDenied
    form = KeyForm(labs, request.POST or None)
    key, secret = None, ""
    if form.is_bound and form.is_valid():
        key, secret = form.create(request.user)
        form = KeyForm(labs)
    context = {
        "form": form,
        "labs": labs,
        "key": key,
        "secret": secret,
        "keys": own_keys(request.user)[:KEYS_SHOWN],
        "now": timezone.now(),
        "commands": agent_commands(request.build_absolute_uri("/").rstrip("/"), secret or "aw_…"),
        "digest": agent_digest(),
        "is_for_this_machine": split_domain_port(request.get_host())[0] in _THIS_MACHINE,
    }
    return render(request, "labs/add.html", context, status=422 if form.is_bound else 200)


@login_required
@never_cache
@require_safe
@vary_on_htmx
def arrivals(request: HttpRequest, prefix: str) -> HttpResponse:
    """Reports received with one key so far; polled every few seconds by the page that shows the key."""
    key = get_object_or_404(own_keys(request.user), prefix=prefix)
    reports = Report.objects.filter(key=key).select_related("machine__lab").defer("body").order_by("-received_at")[:5]
    context = {"key": key, "reports": list(reports)}
    return render(request, "labs/_arrivals.html" if wants_partial(request) else "labs/arrivals.html", context)


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
    return render(request, "labs/keys.html", context, status=422 if form.is_bound else 200)


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
    return render(request, "labs/rotate.html", context, status=422 if problem else 200)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke_page(request: HttpRequest, prefix: str) -> HttpResponse:
    """A GET asks, and says what stops; after a POST the key opens nothing."""
    key = get_object_or_404(own_keys(request.user), prefix=prefix)
    if request.method == "POST":
        revoke(key)
    if key.revoked_at is not None:
        return redirect(reverse("machines:add") + "#keys")
    return render(request, "labs/revoke.html", {"key": key})
