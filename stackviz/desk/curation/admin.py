"""The curation desk: accelerators with values and names inline, values by themselves, sources, history, revert.

What changes a public value goes through `curation`: it is proposed here and decided in the queue.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from stackviz.desk.curation.bulk_edit import EditsMany
from stackviz.desk.curation.forms import InlineValueForm, SpecValueForm, ValueFormSet
from stackviz.desk.curation.import_admin import BringsTables
from stackviz.desk.curation.mistake_page import ReaderCorrectionAdmin
from stackviz.desk.curation.models import ReaderCorrection
from stackviz.desk.curation.names_page import CardAdmin, NameDecisionAdmin
from stackviz.desk.curation.price_admin import PriceAdmin
from stackviz.desk.curation.review_queue import ProposalAdmin
from stackviz.desk.curation.value_admin import ProposesValues, check_typed_value
from stackviz.desk.curation.value_list import AcceleratorFilter, CompactValues
from stackviz.records.catalog.curated_admin import FileLoadAdmin, HistoryAdmin, OriginFilter
from stackviz.records.catalog.fields import FIELDS, GROUPS, HEADLINES
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import (
    Accelerator,
    Alias,
    CatalogueLoad,
    Price,
    Proposal,
    Source,
    SpecValue,
    Vendor,
)
from stackviz.records.labs.models import Card, Machine, NameDecision
from stackviz.web.relation_admin import RelationAdmin

MACHINES_LISTED = 200
ROWS_OF_A_NEW_SHEET = 12


class SpecValueInline(RelationAdmin, admin.TabularInline[SpecValue, Accelerator]):
    """Values of one accelerator. A public one is not deleted but retired, so nothing is deleted here."""

    model = SpecValue
    form = InlineValueForm
    formset = ValueFormSet
    template = "curation/values_inline.html"
    fields = [
        "field",
        "value",
        "unit",
        "condition",
        "basis",
        "source",
        "source_confirmed",
        "note",
        "status",
        "is_preferred",
        "reason",
    ]
    autocomplete_fields = ["source"]
    can_delete = False
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpecValue]:
        return super().get_queryset(request).select_related("source").order_by("field", "condition", "-is_preferred")

    def get_formset(self, request: HttpRequest, obj: Accelerator | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        formset: Any = super().get_formset(request, obj, **kwargs)
        formset.form.user = request.user
        formset.source_input = self.formfield_for_dbfield(SpecValue._meta.get_field("source"), request)  # noqa: SLF001
        return formset

    def get_extra(self, request: HttpRequest, obj: Accelerator | None = None, **kwargs: Any) -> int:  # noqa: ANN401, ARG002
        return 1 if obj else ROWS_OF_A_NEW_SHEET


class AliasInline(RelationAdmin, admin.TabularInline[Alias, Accelerator]):
    model = Alias
    fields = ["name", "kind", "memory_bytes", "gpu_cores", "source", "note"]
    autocomplete_fields = ["source"]
    extra = 1


@admin.register(Accelerator)
class AcceleratorAdmin(ProposesValues, HistoryAdmin):
    list_display = ["name", "vendor", "kind", "family", "public_values", "unreviewed_values", "is_public"]
    ordering = ["name"]  # counting rows of others drops the model's own
    list_filter = ["vendor", "kind", "is_public"]
    list_select_related = ["vendor"]
    search_fields = ["name", "slug", "aliases__name"]
    fields = ["name", "slug", "vendor", "kind", "family", "is_public"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [SpecValueInline, AliasInline]
    change_form_template = "curation/accelerator.html"
    object_history_template = "curation/accelerator_history.html"
    object_history_form_template = "curation/accelerator_then.html"

    class Media:
        css = {"all": ["css/curation.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Accelerator]:
        public = Count("spec_values", filter=Q(spec_values__status=SpecValue.Status.PUBLIC), distinct=True)
        waiting = Count("spec_values", filter=Q(spec_values__status=SpecValue.Status.UNREVIEWED), distinct=True)
        rows: QuerySet[Accelerator] = super().get_queryset(request)
        return rows.annotate(public_count=public, unreviewed_count=waiting)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The width belongs to its values."""
        context = {"is_nav_sidebar_enabled": False, "subtitle": None, **(extra_context or {})}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The width belongs to its values here too."""
        context = {"is_nav_sidebar_enabled": False, **(extra_context or {})}
        answer: HttpResponse = super().add_view(request, form_url, context)
        return answer

    def get_inline_instances(self, request: HttpRequest, obj: Accelerator | None = None) -> list[Any]:
        """The hundred rows of a sheet are folded; those of a new one are not."""
        inlines: list[Any] = super().get_inline_instances(request, obj)
        for inline in inlines:
            if obj and isinstance(inline, SpecValueInline):
                inline.classes = ["collapse"]
        return inlines

    def get_formset_kwargs(self, request: HttpRequest, obj: Accelerator, inline: Any, prefix: str) -> dict[str, Any]:  # noqa: ANN401
        """The rows of a new sheet begin with the headline fields; what is left empty of them is not saved."""
        arguments: dict[str, Any] = super().get_formset_kwargs(request, obj, inline, prefix)
        if not obj.pk and isinstance(inline, SpecValueInline) and request.method != "POST":
            arguments["initial"] = [{"field": field.name} for field in HEADLINES]
        return arguments

    def get_urls(self) -> list[URLPattern]:
        machines = path(
            "<int:pk>/machines/", self.admin_site.admin_view(self.machines_view), name="catalog_accelerator_machines"
        )
        return [machines, *super().get_urls()]

    def machines_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Machines whose newest report has a card of this accelerator, those that reported last first."""
        if not (self.has_view_permission(request) and request.user.has_perm("labs.view_machine")):
            raise PermissionDenied
        accelerator = get_object_or_404(Accelerator, pk=pk)
        shown = Card.objects.filter(accelerator=accelerator, snapshot=OuterRef("latest_snapshot"))
        rows = Machine.objects.filter(Exists(shown)).select_related("lab").order_by("-latest_taken_at")
        machines = list(rows[: MACHINES_LISTED + 1])
        context = {
            **self.admin_site.each_context(request),
            "title": accelerator.name,
            "opts": self.opts,
            "accelerator": accelerator,
            "machines": machines[:MACHINES_LISTED],
            "is_more": len(machines) > MACHINES_LISTED,
        }
        return TemplateResponse(request, "curation/machines.html", context)

    def has_delete_permission(self, request: HttpRequest, obj: Accelerator | None = None) -> bool:
        """Only without public values: retire these, or make the accelerator private instead."""
        is_free = obj is None or not obj.spec_values.filter(status=SpecValue.Status.PUBLIC).exists()
        return is_free and bool(super().has_delete_permission(request, obj))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        if formset.model is not SpecValue:
            super().save_formset(request, form, formset, change)
            return
        formset.save(commit=False)
        for row in formset.forms:
            if row.has_changed():
                self.save_or_propose(request, row)

    @admin.display(description=_("public values"), ordering="public_count")
    def public_values(self, accelerator: Accelerator) -> int:
        return int(accelerator.public_count)  # type: ignore[attr-defined]

    @admin.display(description=_("unreviewed"), ordering="unreviewed_count")
    def unreviewed_values(self, accelerator: Accelerator) -> int:
        return int(accelerator.unreviewed_count)  # type: ignore[attr-defined]


class GroupFilter(admin.SimpleListFilter):
    """Values by the registry's groups, such as memory or peak rates."""

    title = _("group")
    parameter_name = "group"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, ARG002 - Django's
        return [(group.name, group.title) for group in GROUPS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> QuerySet[SpecValue]:  # noqa: ARG002
        names = [field.name for field in FIELDS.values() if field.group == self.value()]
        return queryset.filter(field__in=names) if self.value() else queryset


class ReasonForm(helpers.ActionForm):
    """The reason for an action on several values."""

    reason = forms.CharField(max_length=300, required=False, label=_("Reason:"))


@admin.register(SpecValue)
class SpecValueAdmin(CompactValues, EditsMany, ProposesValues, BringsTables, HistoryAdmin):
    form = SpecValueForm
    action_form = ReasonForm
    list_filter = [
        AcceleratorFilter,
        "accelerator__vendor",
        "status",
        "is_preferred",
        GroupFilter,
        "basis",
        OriginFilter,
    ]
    list_select_related = ["accelerator", "source"]
    search_fields = ["accelerator__name", "accelerator__slug", "field", "value", "note", "source__title"]
    autocomplete_fields = ["accelerator", "source"]
    readonly_fields = ["reads_as", "data_key", "changed_at", "checked"]
    fields = [
        "accelerator",
        "field",
        ("value", "unit", "reads_as"),
        "condition",
        "basis",
        ("source", "source_confirmed"),
        "said_by",
        "note",
        ("status", "is_preferred"),
        "reason",
        "as_draft",
        ("data_key", "changed_at", "checked"),
    ]
    actions = ["edit_many", "publish", "set_aside"]

    class Media:
        css = {"all": ["css/curation.css"]}
        js = ["js/curation.js"]

    def get_urls(self) -> list[URLPattern]:
        judge_path = path("judge/", self.admin_site.admin_view(self.judge_view), name="catalog_specvalue_judge")
        return [judge_path, *super().get_urls()]

    def judge_view(self, request: HttpRequest) -> HttpResponse:
        """Check the value being typed against the registry, for the form's script."""
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        return JsonResponse(check_typed_value(request.GET))

    def get_form(self, request: HttpRequest, obj: SpecValue | None = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401, FBT001, FBT002
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.user = request.user
        return form

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> SpecValue | None:
        value: SpecValue | None = super().get_object(request, object_id, from_field)
        if value and request.method == "GET" and value.status == SpecValue.Status.PUBLIC:
            self.tell_of_proposals(request, value)
        return value

    def has_delete_permission(self, request: HttpRequest, obj: SpecValue | None = None) -> bool:
        """Only values that are not public; a public value is retired by a proposal."""
        is_hidden = obj is None or obj.status != SpecValue.Status.PUBLIC
        return is_hidden and bool(super().has_delete_permission(request, obj))

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}

    @admin.display(description=_("amount"))
    def reads_as(self, value: SpecValue) -> str:
        return for_people(value).label if value.pk else "—"

    @admin.display(description=_("checked"))
    def checked(self, value: SpecValue) -> str:
        if value.checked_at is None:
            return gettext("not on this site; from the curated files")
        return f"{value.checked_by or '—'}, {value.checked_at:%Y-%m-%d %H:%M}"

    @admin.action(description=_("Publish: propose as public alternatives"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> None:
        """Only values with a source can be public; the others stay as they are, and are named."""
        self.propose_all(request, queryset, SpecValue.Status.PUBLIC)

    @admin.action(description=_("Retire: propose to retire values known to be wrong"), permissions=["change"])
    def set_aside(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> None:
        self.propose_all(request, queryset, SpecValue.Status.RETIRED)


@admin.register(Alias)
class AliasAdmin(HistoryAdmin):
    list_display = ["name", "accelerator", "kind", "memory", "gpu_cores", "source"]
    list_filter = [AcceleratorFilter, "kind", "accelerator__vendor"]
    change_list_template = "curation/names_of_accelerators.html"
    list_select_related = ["accelerator", "source"]
    search_fields = ["name", "normalized", "accelerator__name", "note"]
    autocomplete_fields = ["accelerator", "source"]
    readonly_fields = ["normalized", "data_key"]

    @admin.display(description=_("memory"), ordering="memory_bytes")
    def memory(self, alias: Alias) -> str:
        return f"{alias.memory_bytes / 2**30:.4g} GiB" if alias.memory_bytes else "—"


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin[Source]):
    list_display = ["title", "kind", "read_as", "read_on", "value_count", "url"]
    ordering = ["title"]  # counting rows of others drops the model's own
    list_filter = ["kind", "read_as"]
    search_fields = ["title", "url", "key"]
    prepopulated_fields = {"key": ["title"]}

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:  # noqa: ANN401
        """Sources that visitors see are changed only by people with approval rights, in all their columns."""
        return ["key", "title", "url", "kind", "read_as", "read_on"] if self._is_held(request, obj) else []

    def get_prepopulated_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:  # noqa: ANN401
        return {} if self._is_held(request, obj) else super().get_prepopulated_fields(request, obj)

    def _is_held(self, request: HttpRequest, source: Source | None) -> bool:
        if source is None or request.user.has_perm("catalog.approve"):
            return False
        public = (source.spec_values.filter(status=SpecValue.Status.PUBLIC), source.aliases, source.prices)
        return any(rows.exists() for rows in public)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        return super().get_queryset(request).annotate(spec_count=Count("spec_values"))

    @admin.display(description=_("values"), ordering="spec_count")
    def value_count(self, source: Source) -> int:
        return int(source.spec_count)  # type: ignore[attr-defined]


@admin.register(Vendor)
class VendorAdmin(admin.ModelAdmin[Vendor]):
    list_display = ["name", "slug"]
    search_fields = ["name", "slug"]
    ordering = [Lower("name")]


admin.site.register(Card, CardAdmin)
admin.site.register(NameDecision, NameDecisionAdmin)
admin.site.register(CatalogueLoad, FileLoadAdmin)
admin.site.register(Price, PriceAdmin)
admin.site.register(Proposal, ProposalAdmin)
admin.site.register(ReaderCorrection, ReaderCorrectionAdmin)
