"""The admin's pages of unmatched names: the queue, one name to decide on, undo."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.desk.curation.name_decisions import (
    CannotUndo,
    DecidedMeanwhile,
    Target,
    give_name,
    leave_name,
    steps_taken,
    undo,
)
from stackviz.desk.curation.unmatched_names import UnmatchedName, latest_decisions, waiting_name, waiting_names
from stackviz.records.catalog.models import Accelerator, Alias, Vendor
from stackviz.records.curated.rows import is_readable
from stackviz.records.labs.models import Card, NameDecision
from stackviz.records.labs.readonly_admin import ReadOnlyAdmin
from stackviz.records.labs.rematch import Rematched, rematch_cards, rematch_name
from stackviz.report.rules.known_cards import normalized
from stackviz.web.http.address import row_key, text_parameter, whole_number
from stackviz.web.paging import page_number

PLACES = 4  # accelerators one name can be given to at once
LARGEST_GB = 1_000_000


class NameForm(forms.Form):
    """Which name is meant, what is done with it and why. `seen`: decisions about it when the page was made."""

    reported_name = forms.CharField(max_length=200, strip=False, widget=forms.HiddenInput)
    vendor = forms.CharField(max_length=200, strip=False, required=False, widget=forms.HiddenInput)
    seen = forms.IntegerField(min_value=0, max_value=1_000_000, widget=forms.HiddenInput)
    reason = forms.CharField(
        max_length=300,
        required=False,
        validators=[is_readable],
        label=gettext_lazy("Why"),
        help_text=gettext_lazy("Stored with the decision; public if the name is assigned to a sheet."),
    )


class TargetForm(forms.Form):
    """One accelerator the name belongs to, and with what."""

    accelerator = forms.ModelChoiceField[Accelerator](
        Accelerator.objects.none(), required=False, label=gettext_lazy("Accelerator")
    )
    memory_gb = forms.FloatField(
        required=False, min_value=0.001, max_value=LARGEST_GB, label=gettext_lazy("Memory, GB as printed")
    )
    gpu_cores = forms.IntegerField(required=False, min_value=1, max_value=100_000, label=gettext_lazy("GPU cores"))
    is_undecided = forms.BooleanField(required=False, label=gettext_lazy("the name alone never decides"))

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        choice = self.fields["accelerator"]
        choice.queryset = Accelerator.objects.select_related("vendor").order_by("vendor__name", "name")  # type: ignore[attr-defined]

    def target(self) -> Target | None:
        filled = self.cleaned_data
        if filled.get("accelerator") is None:
            return None
        memory = filled.get("memory_gb")
        return Target(
            filled["accelerator"],
            round(memory * 1e9) if memory else None,
            filled.get("gpu_cores"),
            bool(filled.get("is_undecided")),
        )


def queue_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The queue; a POST gives one name to one suggested accelerator."""
    _may(request, "labs.view_card")
    if request.method == "POST":
        return _decide(request, site)
    q, shows_ignored = text_parameter(request, "q"), request.GET.get("show") == "ignored"
    query = QueryDict(mutable=True)
    query.update({name: value for name, value in (("q", q), ("show", "ignored" if shows_ignored else "")) if value})
    context = {
        **site.each_context(request),
        "title": _("Unmatched names"),
        "page": waiting_names(page_number(request), q, ignored=shows_ignored),
        "q": q,
        "query": query,
        "shows_ignored": shows_ignored,
        "decisions": latest_decisions(),
        "may_name": request.user.has_perm("catalog.add_alias"),
        "may_undo": request.user.has_perm("catalog.delete_alias"),
        "more": request.GET.get("more", "")[:200],
        "below": request.GET.get("below", ""),
    }
    return TemplateResponse(request, "curation/names.html", context)


def name_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """One name: all that can be done with it."""
    _may(request, "labs.view_card")
    if request.method == "POST":
        return _decide(request, site)
    waiting = waiting_name(
        (request.GET.get("name", "")[:200].replace("\x00", ""), request.GET.get("vendor", "")[:200].replace("\x00", ""))
    )
    if waiting is None:
        raise Http404(_("No unmatched card has this name."))
    return _name_page(request, site, waiting)


def _name_page(
    request: HttpRequest,
    site: AdminSite,
    waiting: UnmatchedName,
    form: NameForm | None = None,
    targets: list[TargetForm] | None = None,
) -> HttpResponse:
    first = {"reported_name": waiting.name, "vendor": waiting.vendor, "seen": waiting.steps}
    vendor = Vendor.objects.filter(slug=waiting.vendor.casefold()).first()
    new_sheet = urlencode({"name": waiting.name[:120], **({"vendor": vendor.pk} if vendor else {})})
    context = {
        **site.each_context(request),
        "title": waiting.name,
        "waiting": waiting,
        "form": form or NameForm(initial=first),
        "targets": targets or _targets_of(waiting),
        "new_sheet": f"{reverse('admin:catalog_accelerator_add')}?{new_sheet}",
        "may_name": request.user.has_perm("catalog.add_alias"),
        "queue": reverse("admin:labs_card_names"),
    }
    return TemplateResponse(request, "curation/name.html", context)


def _targets_of(waiting: UnmatchedName) -> list[TargetForm]:
    """A line for each accelerator that has the name, then for the best suggestion, then empty ones."""
    lines: list[dict[str, Any]] = [
        {
            "accelerator": alias.accelerator_id,
            "memory_gb": f"{alias.memory_bytes / 1e9:g}" if alias.memory_bytes else None,
            "gpu_cores": alias.gpu_cores,
            "is_undecided": alias.kind == "undecided",
        }
        for alias in waiting.known_as
    ]
    if not lines and waiting.suggestions:
        lines.append({"accelerator": waiting.suggestions[0][0].pk})
    lines = [*lines[:PLACES], *({} for _blank in range(PLACES - len(lines)))]
    return [TargetForm(initial=line, prefix=str(index)) for index, line in enumerate(lines)]


def _decide(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Apply the form of either page; redirects to the queue, or to the name's page on an error."""
    action = request.POST.get("action", "accept")
    if action == "undo":
        return _undo(request)
    if action == "go-on":
        return _go_on(request)
    _may(request, "catalog.add_alias")
    form = NameForm(request.POST)
    if not form.is_valid():
        return _refused(request, _("The form was incomplete: nothing was changed."))
    name, vendor = form.cleaned_data["reported_name"], form.cleaned_data["vendor"]
    targets = [TargetForm(request.POST, prefix=str(index)) for index in range(PLACES)]
    try:
        return _done(request, form, action, targets)
    except DecidedMeanwhile as problem:
        return _refused(request, _meanwhile(problem))
    except ValidationError as problem:
        form.add_error(None, problem.messages)
    waiting = waiting_name((name, vendor))
    if waiting is None:
        return _refused(request, " ".join(map(str, form.non_field_errors())))
    return _name_page(request, site, waiting, form, targets)


def _done(request: HttpRequest, form: NameForm, action: str, targets: list[TargetForm]) -> HttpResponse:
    filled = form.cleaned_data
    name, vendor = filled["reported_name"], filled["vendor"]
    if (
        not _waits(name, vendor) and steps_taken(name) <= filled["seen"]
    ):  # otherwise somebody else was faster: show their decision
        raise ValidationError(_("No unmatched card has this name."))
    terms = {"by": _person(request), "reason": filled["reason"], "seen": filled["seen"]}
    if action == "ignore":
        leave_name(name, vendor, **terms)
        messages.success(request, _("“%(name)s” was dismissed.") % {"name": name})
        return redirect("admin:labs_card_names")
    chosen = _suggested(request) if action == "accept" else _filled(targets)
    known = Alias.objects.filter(normalized=normalized(name), accelerator__in=[item.accelerator for item in chosen])
    if known.exists():
        _may(request, "catalog.change_alias")
    decision, rematched = give_name(name, vendor, chosen, **terms)
    text = _("“%(name)s” now belongs to %(accelerators)s.") % {"name": name, "accelerators": decision.text}
    messages.success(request, f"{text} {_counted(rematched)}")
    return _after(name, rematched)


def _waits(name: str, vendor: str) -> bool:
    return Card.objects.filter(accelerator__isnull=True, reported_name=name, vendor=vendor).exists()


def _suggested(request: HttpRequest) -> list[Target]:
    """The accelerator whose button was pressed."""
    text = request.POST.get("accelerator", "")
    accelerator = Accelerator.objects.filter(pk=row_key(text)).first()
    if accelerator is None:
        raise ValidationError(_("Choose an accelerator."))
    return [Target(accelerator)]


def _filled(targets: list[TargetForm]) -> list[Target]:
    if not all(target.is_valid() for target in targets):
        raise ValidationError(_("Please correct the marked fields. Nothing was changed."))
    return [target for item in targets if (target := item.target()) is not None]


def _undo(request: HttpRequest) -> HttpResponse:
    text = request.POST.get("decision", "")
    decision = NameDecision.objects.filter(pk=row_key(text)).first()
    if decision is None:
        raise Http404
    _may(request, "catalog.add_alias")
    if decision.action != NameDecision.Action.IGNORE:
        _may(request, "catalog.delete_alias")
    try:
        rematched = undo(decision, by=_person(request))
    except CannotUndo as problem:
        return _refused(request, str(problem))
    messages.success(request, _("Undone: “%(name)s”.") % {"name": decision.name} + f" {_counted(rematched)}")
    return _after(decision.name, rematched)


def _go_on(request: HttpRequest) -> HttpResponse:
    """Match the cards that were too many to be matched at once."""
    _may(request, "catalog.add_alias")
    name, below = request.POST.get("reported_name", ""), request.POST.get("below", "")
    last = whole_number(below, max_digits=18)
    if last is None:
        raise Http404
    rematched = rematch_name(name.replace("\x00", ""), below=last)
    messages.success(request, _counted(rematched))
    return _after(name, rematched)


def _after(name: str, rematched: Rematched) -> HttpResponse:
    queue = reverse("admin:labs_card_names")
    if rematched.rest is None:
        return redirect(queue)
    return redirect(f"{queue}?{urlencode({'more': name, 'below': rematched.rest})}")


def _counted(rematched: Rematched) -> str:
    n = rematched.changed
    text = ngettext("%(n)s card now has a different spec sheet.", "%(n)s cards now have a different spec sheet.", n) % {
        "n": f"{n:,}"
    }
    return f"{text} {_('Older cards are still to be matched.')}" if rematched.rest is not None else text


def _meanwhile(problem: DecidedMeanwhile) -> str:
    latest = problem.latest
    if latest is None:
        return _("Someone else has decided on this name in the meantime. Nothing was changed.")
    who = latest.made_by.get_username() if latest.made_by else "?"
    text = _("%(who)s has decided on “%(name)s” in the meantime (%(what)s). Nothing was changed.")
    return text % {"who": who, "name": latest.name, "what": latest.text or latest.reason}


def _refused(request: HttpRequest, why: str) -> HttpResponse:
    messages.error(request, why)
    return redirect("admin:labs_card_names")


def _may(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied


def _person(request: HttpRequest) -> AbstractBaseUser | None:
    return request.user if request.user.is_authenticated else None


# The admin of cards and name decisions.


class HasSheet(admin.SimpleListFilter):
    title = gettext_lazy("sheet")
    parameter_name = "sheet"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ANN401, ARG002
        return [("none", _("unmatched")), ("found", _("matched"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Card]) -> QuerySet[Card]:  # noqa: ARG002
        if self.value() is None:
            return queryset
        return queryset.filter(accelerator__isnull=self.value() == "none")


class CardAdmin(ReadOnlyAdmin):
    list_display = ["reported_name", "vendor", "accelerator", "match_how", "memory", "of_machine", "taken_at"]
    list_filter = [HasSheet, "vendor", "kind"]
    list_select_related = ["accelerator", "snapshot__machine"]
    search_fields = ["reported_name", "accelerator__name", "snapshot__machine__name"]
    actions = ["match_again"]
    change_list_template = "curation/cards.html"

    def get_urls(self) -> list[URLPattern]:
        return [
            path("names/", self.admin_site.admin_view(self.names_queue), name="labs_card_names"),
            path("names/one/", self.admin_site.admin_view(self.name_details), name="labs_card_name"),
            *super().get_urls(),
        ]

    def names_queue(self, request: HttpRequest) -> HttpResponse:
        return queue_page(request, self.admin_site)

    def name_details(self, request: HttpRequest) -> HttpResponse:
        return name_page(request, self.admin_site)

    @admin.display(description=gettext_lazy("memory"), ordering="memory_bytes")
    def memory(self, card: Card) -> str:
        return f"{card.memory_bytes / 2**30:.4g} GiB" if card.memory_bytes else "—"

    @admin.display(description=gettext_lazy("machine"))
    def of_machine(self, card: Card) -> str:
        return card.snapshot.machine.name

    @admin.display(description=gettext_lazy("taken at"))
    def taken_at(self, card: Card) -> Any:  # noqa: ANN401 (the admin formats it)
        return card.snapshot.taken_at

    def has_match_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("labs.change_card")

    @admin.action(description=gettext_lazy("Match the selected cards again"), permissions=["match"])
    def match_again(self, request: HttpRequest, queryset: QuerySet[Card]) -> None:
        changed = rematch_cards(queryset)
        text = ngettext("%(count)d card has changed.", "%(count)d cards have changed.", changed) % {"count": changed}
        self.message_user(request, text, messages.SUCCESS)


class NameDecisionAdmin(ReadOnlyAdmin):
    """What was decided about names that cards report; decisions are made, and undone, in the queue of names."""

    list_display = ["name", "action", "text", "reason", "made_by", "made_at", "undone_at"]
    list_filter = ["action", "made_at"]
    list_select_related = ["made_by"]
    search_fields = ["name", "text", "reason"]
    shown = ("name", "vendor", "action", "text", "reason", "made_by", "made_at", "undone_by", "undone_at")
