"""A reader reports a mistake, without an account: `/accelerators/<slug>/mistake/`, answered at `/corrections/`."""

from http import HTTPStatus
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from stackviz.desk.curation.differences import field_title
from stackviz.desk.curation.models import ReaderCorrection
from stackviz.desk.curation.value_admin import user_of
from stackviz.records.audit.record import record
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.curated.rows import is_web_address
from stackviz.web.http.rate_limit import RateLimit, RateLimited, ask_to_wait
from stackviz.web.http.tickets import TicketRefused, digest_of, new_token, open_ticket, sign_ticket

CORRECTIONS = RateLimit("corrections", "CORRECTIONS_PER_HOUR", 3600)
PURPOSE = "stackviz.curation.reader_corrections"
COMPARED = ("field", "condition", "wrong", "right", "source_url", "name")  # of a form that is sent again


class TooManyWaiting(Exception):
    """CORRECTIONS_WAITING readers' corrections wait for an answer already."""


def save_correction(token: str, accelerator: Accelerator, words: dict[str, str]) -> str:
    """Store what a reader said, once for a token -> the token of its address. Raises TooManyWaiting.

    A form that is sent again with other words is another correction, under a token of its own.
    """
    digest = digest_of(token)
    waiting = ReaderCorrection.objects.filter(state=ReaderCorrection.State.WAITING)
    if not waiting.filter(token_digest=digest).exists() and waiting.count() >= settings.CORRECTIONS_WAITING:
        raise TooManyWaiting
    stored, _is_new = ReaderCorrection.objects.get_or_create(
        token_digest=digest, defaults={"accelerator": accelerator, **words}
    )
    is_same = stored.accelerator_id == accelerator.pk and all(getattr(stored, name) == words[name] for name in COMPARED)
    return token if is_same else save_correction(new_token(), accelerator, words)


def correction_of(token: str) -> ReaderCorrection | None:
    """What stands under this address; None where nothing does. One query."""
    under_it = ReaderCorrection.objects.filter(token_digest=digest_of(token), accelerator__is_public=True)
    return under_it.select_related("accelerator").first()


@transaction.atomic
def decide_correction(correction: ReaderCorrection, by: User) -> None:
    """Store the answer with who gave it and when; whom to ask is forgotten with it."""
    is_open = correction.state == ReaderCorrection.State.WAITING
    correction.decided_by, correction.decided_at = (None, None) if is_open else (by, timezone.now())
    if not is_open:
        correction.contact = ""
    correction.save()
    record("correction.answered", f"correction {correction.pk}", by, state=correction.state)


THANKED = 200  # the newest
_AGAIN = gettext_lazy("This form is older than a day. Send it once more.")
_FULL = gettext_lazy("Many corrections wait for an answer. Please come back in a few days.")


class WebAddressField(forms.URLField):
    """An address that may become a link."""

    default_validators = [is_web_address]


class MistakeForm(forms.ModelForm[ReaderCorrection]):
    """What a reader says; where it stands is a web address."""

    source_url = WebAddressField(
        max_length=500,
        required=False,
        assume_scheme="https",
        label=gettext_lazy("Where does it stand?"),
        help_text=gettext_lazy("the address of a page or document"),
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )
    ticket = forms.CharField(max_length=300, widget=forms.HiddenInput)

    class Meta:
        model = ReaderCorrection
        fields = ("wrong", "right", "source_url", "name", "contact")
        labels: ClassVar = {
            "wrong": gettext_lazy("What is wrong?"),
            "right": gettext_lazy("What would be right?"),
            "name": gettext_lazy("Your name, for the thanks"),
            "contact": gettext_lazy("Who may be asked?"),
        }
        help_texts: ClassVar = {
            "name": gettext_lazy("public if the correction is accepted; leave it empty for no name"),
            "contact": gettext_lazy("a mail address, seen by curators alone, deleted with the answer; not required"),
        }
        widgets: ClassVar = {
            "wrong": forms.Textarea(attrs={"rows": 4}),
            "name": forms.TextInput(attrs={"autocomplete": "name"}),
        }

    def clean_ticket(self) -> str:
        """The token that the ticket carries."""
        try:
            return open_ticket(self.cleaned_data["ticket"], PURPOSE)[0]
        except TicketRefused:
            raise forms.ValidationError(_AGAIN) from None


class _About:
    """The value that a form is about: what the page shows of it."""

    def __init__(self, request: HttpRequest, accelerator: Accelerator) -> None:
        parameters = request.POST if request.method == "POST" else request.GET
        self.field = parameters.get("field", "") if parameters.get("field", "") in FIELDS else ""
        values = public_catalogue().preferred(accelerator.pk, self.field) if self.field else []
        value = next((value for value in values if value.condition == parameters.get("condition", "")), None)
        self.title = field_title(self.field)
        self.condition = value.condition if value else ""
        self.shown = for_people(value).label if value else ""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def report_mistake(request: HttpRequest, slug: str) -> HttpResponse:
    """The form; what is sent waits for a curator, and the reader is led to its address."""
    accelerator = public_catalogue().by_slug.get(slug)
    if accelerator is None:
        raise Http404
    about = _About(request, accelerator)
    if request.method != "POST":
        return _form_page(request, accelerator, about, MistakeForm(label_suffix=""))
    form = MistakeForm(request.POST, label_suffix="")
    try:
        CORRECTIONS.count(request)
    except RateLimited as limited:
        form.add_error(
            None, _("You have reported many mistakes within the hour. Your text is still here; send it later.")
        )
        return ask_to_wait(_form_page(request, accelerator, about, form), limited)
    if not form.is_valid():
        return _form_page(request, accelerator, about, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    typed = {name: form.cleaned_data[name] for name in MistakeForm.Meta.fields}
    where = {"field": about.field, "condition": about.condition, "shown": about.shown[:400]}
    try:
        token = save_correction(form.cleaned_data["ticket"], accelerator, typed | where)
    except TooManyWaiting:
        form.add_error(None, _FULL)
        return _form_page(request, accelerator, about, form, HTTPStatus.SERVICE_UNAVAILABLE)
    return HttpResponseRedirect(reverse("accelerators:correction", args=[token]), status=303)


def _form_page(
    request: HttpRequest, accelerator: Accelerator, about: _About, form: MistakeForm, status: int = HTTPStatus.OK
) -> HttpResponse:
    """The form, with what was typed; a ticket that was refused is replaced."""
    is_refused = form.is_bound and "ticket" in form.errors
    ticket = form.data["ticket"] if form.is_bound and not is_refused else sign_ticket([new_token()], PURPOSE)
    context = {"accelerator": accelerator, "about": about, "form": form, "ticket": ticket}
    return render(request, "curation/mistake.html", context, status=status)


@never_cache
@require_safe
def correction(request: HttpRequest, token: str) -> HttpResponse:
    """What a reader reported, and the answer; whoever has the address sees it."""
    stored = correction_of(token)
    if stored is None:
        raise Http404
    context = {"correction": stored, "title": field_title(stored.field)}
    response = render(request, "curation/correction.html", context)
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@require_safe
def corrections(request: HttpRequest) -> HttpResponse:
    """What was accepted, with thanks. One query."""
    accepted = ReaderCorrection.objects.filter(
        state=ReaderCorrection.State.ACCEPTED, accelerator__is_public=True
    ).select_related("accelerator")
    rows = [
        {"correction": row, "title": field_title(row.field)}
        for row in accepted.order_by("-decided_at", "-pk")[:THANKED]
    ]
    return render(request, "curation/corrections.html", {"rows": rows})


# The admin of corrections.


class CorrectionForm(forms.ModelForm[ReaderCorrection]):
    """A decision needs an answer: the reader, and where it is accepted everybody, reads it."""

    def clean(self) -> dict[str, Any]:
        answer = super().clean() or self.cleaned_data
        if answer.get("state") != ReaderCorrection.State.WAITING and not answer.get("answer"):
            self.add_error("answer", _("Say what was found: the reader sees it."))
        return answer


class ReaderCorrectionAdmin(admin.ModelAdmin[ReaderCorrection]):
    """Decided by people who propose or approve values; nobody adds or deletes one."""

    form = CorrectionForm
    list_display = ("reported_at", "accelerator", "field", "wrong", "right", "state")
    list_filter = ("state",)
    list_select_related = ("accelerator",)
    list_per_page = 50
    fields = (
        "accelerator", "field", "condition", "shown", "wrong", "right", "source_url", "name", "contact", "reported_at",
        "values", "state", "answer", "decided_by", "decided_at",
    )  # fmt: skip
    readonly_fields = tuple(name for name in fields if name not in ("state", "answer"))

    @admin.display(description=gettext_lazy("value"))
    def values(self, row: ReaderCorrection) -> str:
        """A link to the values of the cell, where a change is proposed."""
        value = SpecValue.objects.filter(
            accelerator=row.accelerator_id, field=row.field, condition=row.condition, is_preferred=True
        ).first()
        if value is None:
            address = reverse("admin:catalog_accelerator_change", args=[row.accelerator_id])
        else:
            address = reverse("admin:catalog_specvalue_change", args=[value.pk])
        return format_html('<a href="{}">{}</a>', address, _("propose a change"))

    def save_model(self, request: HttpRequest, obj: ReaderCorrection, form: Any, change: bool) -> None:  # noqa: ANN401, ARG002, FBT001
        decide_correction(obj, by=user_of(request))

    def _may(self, request: HttpRequest) -> bool:
        return request.user.has_perm("catalog.propose") or request.user.has_perm("catalog.approve")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._may(request)

    def has_view_permission(self, request: HttpRequest, obj: ReaderCorrection | None = None) -> bool:  # noqa: ARG002
        return self._may(request)

    def has_change_permission(self, request: HttpRequest, obj: ReaderCorrection | None = None) -> bool:  # noqa: ARG002
        return self._may(request)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ReaderCorrection | None = None) -> bool:  # noqa: ARG002
        return False
