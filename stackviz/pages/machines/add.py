"""Adding a machine: one line to copy, keys for lab members, the agent's files, and what arrives while one waits."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
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
from django.views.decorators.http import etag, require_http_methods, require_safe

from stackviz.agent.bundle import WHEEL_NAME, build_wheel, build_zipapp
from stackviz.records.labs.keys import create_key, revoke
from stackviz.records.labs.models import AgentKey, Lab, Machine, Membership, Report
from stackviz.records.labs.queries import Visitor
from stackviz.records.labs.rights import WORKING_ROLES
from stackviz.web.htmx import vary_on_htmx, wants_partial

KEYS_SHOWN = 20
MACHINES_OFFERED = 200
LIFETIMES = (("90", gettext_lazy("90 days")), ("365", gettext_lazy("one year")), ("", gettext_lazy("until revoked")))


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


_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True, slots=True)
class Commands:
    """What is typed on a machine to fetch the agent and run it. `install`: as a package, if its SHA-256 is right."""

    unix: str
    powershell: str
    install: str


def agent_commands(server: str, key: str) -> Commands:
    """The commands that report to `server`, an origin without a slash at its end, with this key."""
    agent, digest = server + reverse("machines:agent"), agent_digest()
    run = f"accelweb-agent.pyz run --quick --server {server}"
    # By Python, which is there in any case: macOS and Linux have different programs for it.
    check = (
        f"import hashlib; assert hashlib.sha256(open('accelweb-agent.pyz','rb').read()).hexdigest()=='{digest}', "
        "'not the file that the page named: load the page again'"
    )
    return Commands(
        unix=f'curl -fsSLO {agent} && python3 -c "{check}" && ACCELWEB_KEY={key} python3 {run}',
        powershell=(
            f"Invoke-WebRequest {agent} -OutFile accelweb-agent.pyz; "
            f'if ((Get-FileHash accelweb-agent.pyz).Hash -eq "{digest}") {{ $env:ACCELWEB_KEY="{key}"; py {run} }} '
            'else { "not the file that the page named: load the page again" }'
        ),
        install=f'pip install "{server}{reverse("machines:wheel")}#sha256={wheel_digest()}"',
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
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
    return render(request, "machines/add.html", context, status=422 if form.is_bound else 200)


@login_required
@never_cache
@require_safe
@vary_on_htmx
def arrivals(request: HttpRequest, prefix: str) -> HttpResponse:
    """Reports received with one key so far; polled every few seconds by the page that shows the key."""
    key = get_object_or_404(own_keys(request.user), prefix=prefix)
    reports = Report.objects.filter(key=key).select_related("machine__lab").defer("body").order_by("-received_at")[:5]
    context = {"key": key, "reports": list(reports)}
    return render(request, "machines/_arrivals.html" if wants_partial(request) else "machines/arrivals.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke_key(request: HttpRequest, prefix: str) -> HttpResponse:
    """A GET asks, and says what stops; after a POST the key opens nothing."""
    key = get_object_or_404(own_keys(request.user), prefix=prefix)
    if request.method == "POST":
        revoke(key)
    if key.revoked_at is not None:
        return redirect(reverse("machines:add") + "#keys")
    return render(request, "machines/revoke.html", {"key": key})


@lru_cache(maxsize=2)
def _built(build: Callable[[], bytes]) -> tuple[bytes, str]:
    """The agent in one of its forms, and its SHA-256. Built once a process: it changes only with the code."""
    body = build()
    return body, hashlib.sha256(body).hexdigest()


def agent_digest() -> str:
    return _built(build_zipapp)[1]


def wheel_digest() -> str:
    return _built(build_wheel)[1]


def _download(build: Callable[[], bytes], name: str) -> HttpResponse:
    response = HttpResponse(_built(build)[0], content_type="application/zip")
    response["Cache-Control"] = "no-cache"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
@etag(lambda _request: f'"{agent_digest()[:32]}"')
def agent_file(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """The agent as a single file: any Python 3.10 or newer runs it, nothing is installed."""
    return _download(build_zipapp, "accelweb-agent.pyz")


@require_safe
@etag(lambda _request: f'"{wheel_digest()[:32]}"')
def wheel_file(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """The same agent as a wheel, for pip, uv and pipx."""
    return _download(build_wheel, WHEEL_NAME)
