"""A reader reports a mistake, without an account: `/accelerators/<slug>/mistake/`, answered at `/corrections/`."""

from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from stackviz.desk.curation.differences import field_title
from stackviz.desk.curation.models import ReaderCorrection
from stackviz.desk.curation.reader_corrections import (
    CORRECTIONS,
    PURPOSE,
    TooManyWaiting,
    correction_of,
    save_correction,
)
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.curated.rows import is_web_address
from stackviz.web.rate_limit import RateLimited, ask_to_wait
from stackviz.web.tickets import TicketRefused, new_token, open_ticket, sign_ticket

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _ModelForm = forms.ModelForm[ReaderCorrection]
else:
    _ModelForm = forms.ModelForm

THANKED = 200  # the newest
_AGAIN = gettext_lazy("This form is older than a day. Send it once more.")
_FULL = gettext_lazy("Many corrections wait for an answer. Please come back in a few days.")


class WebAddressField(forms.URLField):
    """An address that may become a link."""

    default_validators = [is_web_address]


class MistakeForm(_ModelForm):
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
