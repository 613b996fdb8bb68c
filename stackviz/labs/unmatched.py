"""Names that cards report and no sheet has: counted, and given to a sheet by a curator."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from stackviz.catalog.models import Accelerator, Alias
from stackviz.labs.models import Card
from stackviz.labs.rematch import rematch_cards

NAMES_SHOWN = 200

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _AcceleratorChoice = forms.ModelChoiceField[Accelerator]
else:
    _AcceleratorChoice = forms.ModelChoiceField


class NameForm(forms.Form):
    """One reported name, and the accelerator it belongs to."""

    reported_name = forms.CharField(max_length=200, widget=forms.HiddenInput)
    accelerator = _AcceleratorChoice(Accelerator.objects.none(), empty_label="---------")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        choice = self.fields["accelerator"]
        choice.queryset = Accelerator.objects.select_related("vendor").order_by("vendor__name", "name")  # type: ignore[attr-defined]


def unmatched_names() -> list[dict[str, Any]]:
    """The NAMES_SHOWN most frequent names without a sheet: vendor, why, on how many machines, when last. One query."""
    names = (
        Card.objects.filter(accelerator__isnull=True)
        .values("reported_name", "vendor", "match_how")
        .annotate(machines=Count("snapshot__machine", distinct=True), last=Max("snapshot__taken_at"))
        .order_by("-machines", "reported_name")
    )
    why = {"ambiguous": _("several sheets have this name"), "unknown": _("no sheet has this name")}
    return [{**name, "why": why.get(name["match_how"], "")} for name in names[:NAMES_SHOWN]]


@transaction.atomic
def give_name(reported_name: str, accelerator: Accelerator, note: str) -> int:
    """Let this accelerator be known by the name, and match the cards that wait for it -> how many have a sheet now.

    Raises ValidationError when the catalogue refuses the name.
    """
    alias = Alias(accelerator=accelerator, name=reported_name, note=note)
    alias.full_clean()
    alias.save()
    return rematch_cards(Card.objects.filter(accelerator__isnull=True))


def names_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The admin's page of unmatched names."""
    if not request.user.has_perm("labs.view_card"):
        raise PermissionDenied
    form = NameForm(request.POST or None)
    may_name = request.user.has_perm("catalog.add_alias")
    if request.method == "POST":
        if not may_name:
            raise PermissionDenied
        if form.is_valid() and _name(request, form):
            return redirect(request.path)
    context = {
        **site.each_context(request),
        "title": _("Reported names without a sheet"),
        "names": unmatched_names(),
        "form": form,
        "may_name": may_name,
    }
    return TemplateResponse(request, "labs/admin/names.html", context)


def _name(request: HttpRequest, form: NameForm) -> bool:
    chosen: Accelerator = form.cleaned_data["accelerator"]
    name: str = form.cleaned_data["reported_name"]
    try:
        matched = give_name(name, chosen, f"named by {request.user.get_username()} from what machines report")
    except ValidationError as error:
        form.add_error(None, error.messages)
        return False
    text = _("“%(name)s” now belongs to %(accelerator)s; %(count)d cards have a sheet.")
    messages.success(request, text % {"name": name, "accelerator": chosen.name, "count": matched})
    return True
