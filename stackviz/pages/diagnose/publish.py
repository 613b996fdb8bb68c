"""A pasted machine as a public host: shown field by field first, then proposed to a curator, withdrawn at any time.

The host is made of the masked text, and holds named fields only: nothing else of the text is stored.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from http import HTTPStatus
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, re_path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stackviz.base.units import format_count, unit_label
from stackviz.intake.report_parts.cards import MatchedCard
from stackviz.intake.report_parts.pasted import Refused, answer_pasted, mask_pasted, read_pasted
from stackviz.pages.diagnose.diagnosis import matched_cards
from stackviz.pages.diagnose.links import LINKS
from stackviz.pages.diagnose.models import PublishedMachine
from stackviz.pages.diagnose.views import hidden, show_refused
from stackviz.records.cited.decide_host import withdraw_proposed_host
from stackviz.records.cited.host_proposals import (
    NoRoomForHosts,
    ProposedResults,
    proposal_of,
    propose_host,
    proposed_results,
)
from stackviz.records.cited.parameters import read_params
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import setting_text
from stackviz.records.curated.rows import is_readable
from stackviz.records.hosts.describe import DescribedHost, NotDescribable, describe_host, stated_fields
from stackviz.records.hosts.models import Host
from stackviz.records.hosts.privacy import private_part_of, problem_of_address
from stackviz.records.labs.models import Machine
from stackviz.report.format import Report
from stackviz.report.importers.deadline import Deadline
from stackviz.web.http.tickets import TOKEN_PATTERN, TicketRefused, digest_of, new_token, open_ticket, sign_ticket

EARLIEST = date(2007, 1, 1)  # the year of CUDA 1.0
_PURPOSE = "stackviz.diagnose.publish"
Described = tuple[DescribedHost, ProposedResults]


class ResultToPublish(NamedTuple):
    """A result as it will be public, in words. `doubt`: why it is compared with none, "" if it is."""

    benchmark: str
    setting: str
    value: str
    devices: str
    doubt: str


def _shown_results(lines: Iterable[Mapping[str, str]]) -> Iterator[ResultToPublish]:
    for cells in lines:
        benchmark = CITED_BENCHMARKS[cells["benchmark"]]
        yield ResultToPublish(
            benchmark=str(benchmark.title),
            setting=setting_text(benchmark, read_params(cells["params"], benchmark)),
            value=f"{cells['value']} {unit_label(cells['unit'])}",
            devices=format_count(cells["reported_name"], int(cells["count"])),
            doubt=cells["doubt"],
        )


class HostForm(forms.Form):
    """What a public host needs beyond the text: where the owner published it, since when it is so, what it is."""

    source_url = forms.CharField(
        max_length=600,
        label=gettext_lazy("Your public post"),
        help_text=gettext_lazy("where you show this machine: an issue, a repository, a forum"),
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )
    seen_on = forms.DateField(
        label=gettext_lazy("Day"),
        help_text=gettext_lazy("on which the tools printed this"),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    form = forms.ChoiceField(
        label=gettext_lazy("Form"), required=False, choices=[("", gettext_lazy("not said")), *Host.Form.choices]
    )
    note = forms.CharField(
        max_length=400,
        required=False,
        label=gettext_lazy("Note"),
        validators=[is_readable],
        help_text=gettext_lazy("what others should know: a cap, a setting, a fault"),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, day: date | None = None) -> None:
        """`day`: that of a report, which nobody has to say."""
        super().__init__(data, initial={"seen_on": day or timezone.localdate()}, label_suffix="")
        self.fields["seen_on"].disabled = day is not None

    @property
    def day(self) -> date:
        """The day of the form, or the one it begins with where none can be read: the form says so then."""
        self.is_valid()
        day: date = getattr(self, "cleaned_data", {}).get("seen_on", self.initial["seen_on"])
        return day

    def clean_source_url(self) -> str:
        address = str(self.cleaned_data["source_url"]).strip()
        if problem := problem_of_address(address):
            raise forms.ValidationError(problem)
        return address

    def clean_seen_on(self) -> date:
        day: date = self.cleaned_data["seen_on"]
        if day > timezone.localdate():
            raise forms.ValidationError(_("This day is yet to come."))
        if day < EARLIEST:
            raise forms.ValidationError(_("No tool printed this so long ago: check the year."))
        return day

    def clean_note(self) -> str:
        note = str(self.cleaned_data["note"]).strip()
        if private := private_part_of(note, str(self.data.get("source_url", ""))):
            raise forms.ValidationError(_("Take out what identifies somebody: %(what)s.") % {"what": private})
        return note


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("text")
@csrf_exempt  # the token is in the body, so the body's size is looked at first; then `_answer` asks for the token
def publish_page(request: HttpRequest) -> HttpResponse:
    """First what will be public, to be looked at; sent again with its ticket it is proposed."""
    if request.method != "POST":
        return redirect("diagnose:page")
    return answer_pasted(request, _answer, show_refused)


@csrf_protect
def _answer(request: HttpRequest, text: str, deadline: Deadline) -> HttpResponse:
    masked = mask_pasted(text, deadline)
    return show_or_propose(request, lambda day: _described(masked, deadline, day), text=masked)


def show_or_propose(
    request: HttpRequest,
    describe: Callable[[date], Described],
    *,
    text: str = "",
    machine: Machine | None = None,
    day: date | None = None,
) -> HttpResponse:
    """Show the described host and its form; propose it where the form is sent again with its ticket. Raises Refused.

    `text`: that the form sends again; `machine`: of a lab, of whose report of this `day` it is made.
    """
    given = request.POST.get("ticket", "")
    form = HostForm(request.POST if given else None, day)
    described, results = describe(form.day)
    stated = tuple(stated_fields(described.host, described.cards, described.components))
    shown_results = tuple(_shown_results(results.lines))
    shown = digest_of(repr((stated, shown_results, day)))
    try:
        token, seen = open_ticket(given, _PURPOSE)
    except (TicketRefused, ValueError):
        token = seen = ""
    if seen != shown or not form.is_valid():
        context = {
            "form": form,
            "ticket": sign_ticket([token or new_token(), shown], _PURPOSE),
            "text": text,
            "machine": machine,
            "stated": stated,
            "results": shown_results,
            "left_out": described.left_out,
            "not_published": results.left_out,
            "is_old": bool(given) and not token,
            "is_changed": bool(token) and seen != shown,
        }
        status = HTTPStatus.OK if not given or form.is_valid() else HTTPStatus.UNPROCESSABLE_ENTITY
        return render(request, "diagnose/publish.html", context, status=status)
    LINKS.count(request)
    for name in ("source_url", "form", "note"):
        setattr(described.host, name, form.cleaned_data[name])
    described.host.source_kind = Host.SourceKind.POST
    try:
        with transaction.atomic():
            proposal = propose_host(described, results.lines, digest_of(token))
            if machine is not None:
                PublishedMachine.objects.get_or_create(proposal=proposal, defaults={"machine": machine})
    except NoRoomForHosts:
        problem = _("Too many hosts wait for a curator, so nothing was stored. Try again in a few days.")
        raise Refused(problem, HTTPStatus.INSUFFICIENT_STORAGE, None) from None
    if any(getattr(proposal.host, name) != getattr(described.host, name) for name in form.cleaned_data):
        problem = _("This form was sent before, and that is kept. To change it, withdraw the host and propose it anew.")
        messages.warning(request, problem)
    return redirect("diagnose:host", token=token)


def _described(masked: str, deadline: Deadline, day: date) -> Described:
    """The machine of the text and its results. Raises Refused for a text of several, or of none with an accelerator."""
    machines = read_pasted(masked, deadline).machines
    if len(machines) != 1:
        problem = _("The text holds %(n)d machines. Publish them one by one: paste the text of one.")
        raise Refused(problem % {"n": len(machines)})
    [cards] = matched_cards(machines)
    report = machines[0].report()
    return host_with_results(report, cards, day)


def host_with_results(report: Report, cards: Iterable[MatchedCard], day: date) -> Described:
    """Return the host of a report with its results. Raises Refused."""
    try:
        described = describe_host(report, [card.sheet for card in cards], day)
    except NotDescribable as error:
        raise Refused(str(error)) from None
    return described, proposed_results(report, described)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def proposed_host(request: HttpRequest, token: str) -> HttpResponse:
    """What became of a proposed host, for who has its address; withdraws it by POST."""
    proposal = proposal_of(digest_of(token))
    if proposal is None:
        raise Http404
    if request.method == "POST":
        withdraw_proposed_host(proposal)
        messages.success(request, _("The host was withdrawn. It is on no page and in no list any more."))
        return redirect("diagnose:host", token=token)
    context = {"proposal": proposal, "host": proposal.host, "address": request.build_absolute_uri(request.path)}
    return hidden(render(request, "diagnose/proposed_host.html", context))


urlpatterns = [
    path("diagnose/publish/", publish_page, name="publish"),
    re_path(rf"^diagnose/hosts/(?P<token>{TOKEN_PATTERN})/$", proposed_host, name="host"),
]
