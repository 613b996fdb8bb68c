"""A pasted dump becomes a report of a machine: masked, then taken in by the same path as an agent's.

For members of a lab. The text is read again after it was masked: what is stored was never anything else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from uuid import UUID, uuid5

from django import forms
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.intake.ingest.accept import Accepted, ReportConflict, accept_report, count_upload
from stackviz.intake.ingest.api import refusing
from stackviz.intake.ingest.receipt import receipt_path
from stackviz.intake.report_parts.pasted import MOST_MACHINES, Refused, answer_pasted, mask_pasted, read_pasted
from stackviz.records.labs.keys import Sender, create_key
from stackviz.records.labs.models import AgentKey, Lab, Report
from stackviz.records.labs.queries import WORKING_ROLES, Visitor
from stackviz.report.dumps import DumpedMachine
from stackviz.report.dumps.machines import title_of, tool_name
from stackviz.report.dumps.tool_results import tool_results
from stackviz.report.format import LIMITS, Agent, Machine, ProbeRun, hashed, to_json
from stackviz.report.importers.deadline import Deadline
from stackviz.web.http.addresses import address_by_name
from stackviz.web.http.errors import Refusal

AGENT = "pasted dump"  # stands where an agent's name stands: on the machine's page, in its reports
KEY_NAME = "pasted dumps"
_REPORTS = UUID("6f2c1f7a-6a0e-5f0b-9c55-3f5f1d1a9b10")  # the namespace of reports made here; never to be changed


@dataclass(frozen=True, slots=True)
class Added:
    """A machine whose report is ours now. `is_new` False: the same text was added before under this name."""

    name: str
    is_new: bool
    receipt: str


def add_machine(lab: Lab, user: Visitor, machine: DumpedMachine, name: str, masked: str) -> Added:
    """Take the machine's report in. Raises what `accept_report` does, and RateLimited."""
    key = _key_of(lab, user)
    count_upload(key.pk)
    identity = hashed("pasted-machine", f"{lab.pk} {name.casefold()}")
    text_digest = sha256(f"{','.join(machine.kinds)} {title_of(machine.reading)} {masked}".encode()).hexdigest()
    report_id = uuid5(_REPORTS, f"{identity} {text_digest}")
    report = machine.report()
    report = replace(
        report,
        id=report_id,
        agent=Agent(AGENT, f"({', '.join(machine.kinds)})"[: LIMITS.name_chars]),
        machine=Machine(identity, name),
        results=tool_results(report.results, report.software),
        probes=tuple(ProbeRun(tool_name(kind), "ok", None, _("read from a pasted text")) for kind in machine.kinds),
    )
    sender = Sender(key.pk, lab.pk, lab.is_public, None, None)
    accepted = _accepted(sender, report_id, to_json(report).encode())
    return Added(name, accepted.is_new, receipt_path(report_id, is_public=lab.is_public))


def _accepted(sender: Sender, report_id: UUID, body: bytes) -> Accepted:
    """The same text again says the same but for the hour: its report of then stays."""
    if Report.objects.filter(pk=report_id, machine__lab_id=sender.lab_id).exists():
        return Accepted(report_id, is_new=False)
    try:
        return accept_report(sender, body, Report.Encoding.PLAIN.value)
    except ReportConflict:  # another request was quicker
        return Accepted(report_id, is_new=False)


@transaction.atomic
def _key_of(lab: Lab, user: Visitor) -> AgentKey:
    """The key for this person's pasted dumps: listed among their keys, its secret never stored."""
    Lab.objects.select_for_update().get(pk=lab.pk)  # of two requests at once one makes it
    key = AgentKey.objects.filter(
        lab=lab, machine=None, created_by_id=user.pk, name=KEY_NAME, revoked_at=None, expires_at=None
    ).first()
    if key is not None:
        return key
    key, _secret = create_key(lab=lab, name=KEY_NAME, created_by=user if user.is_authenticated else None)
    return key


LONGEST_NAME = 60


def labs_to_add_to(user: Visitor) -> list[Lab]:
    """Labs for which this person may add machines: not those that they only see. One query."""
    if not user.is_authenticated:
        return []
    if getattr(user, "is_superuser", False):
        return list(Lab.objects.all())
    return list(Lab.objects.filter(memberships__user_id=user.pk, memberships__role__in=WORKING_ROLES))


class AddForm(forms.Form):
    """The lab, and a name for each machine of the text; one without a name is left out."""

    lab = forms.ChoiceField()

    def __init__(self, labs: Sequence[Lab], machines: Sequence[DumpedMachine], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.labs = {lab.slug: lab for lab in labs}
        self.machines = machines
        self.fields["lab"] = forms.ChoiceField(choices=[(lab.slug, lab.name) for lab in labs])
        for number, _machine in enumerate(machines, 1):
            self.fields[f"name-{number}"] = forms.CharField(max_length=LONGEST_NAME, required=False)

    @property
    def rows(self) -> list[tuple[DumpedMachine, forms.BoundField, str]]:
        """Each machine, the field of its name, and what computes in it."""
        return [
            (machine, self[f"name-{number}"], title_of(machine.reading))
            for number, machine in enumerate(self.machines, 1)
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        names = [name for _machine, name in self.named(cleaned)]
        if not names and not self.errors:
            raise forms.ValidationError(_("Name at least one machine."))
        if len({name.casefold() for name in names}) < len(names):
            raise forms.ValidationError(_("Two machines cannot have the same name."))
        return cleaned

    def named(self, cleaned: dict[str, Any]) -> list[tuple[DumpedMachine, str]]:
        names = [
            re.sub(r"\s+", " ", cleaned.get(f"name-{number}") or "").strip()
            for number in range(1, len(self.machines) + 1)
        ]
        return [(machine, name) for machine, name in zip(self.machines, names, strict=True) if name]


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
    return answer_pasted(request, _add, _refuse)


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


def _refuse(request: HttpRequest, refused: Refused, _text: str) -> HttpResponse:
    return render(request, "ingest/from_dump.html", {"form": None, "refused": refused}, status=refused.status)
