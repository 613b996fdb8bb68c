"""Admin of stacks, components, counterparts, releases and requirements.

Rows of the curated files that are changed here keep their changes when the files are loaded again.
"""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.curated_admin import FileLoadAdmin, HistoryAdmin, OriginFilter
from stackviz.records.stacks.models import (
    Call,
    Component,
    Counterpart,
    Placement,
    Release,
    Requirement,
    Stack,
    StacksLoad,
    UnfilledRole,
)
from stackviz.web.relation_admin import RelationAdmin


class PlacementInline(RelationAdmin, admin.TabularInline[Placement, Stack]):
    """Components on layers only: tools and undrawn components have their own list, which keeps the form fast."""

    model = Placement
    fields = ["order", "component", "version", "since", "until", "role", "note"]
    autocomplete_fields = ["component"]
    extra = 1

    def get_queryset(self, request: HttpRequest) -> QuerySet[Placement]:
        standing = super().get_queryset(request).filter(kind=Placement.Kind.LAYER)
        return standing.select_related("component", "stack")


@admin.register(Stack)
class StackAdmin(HistoryAdmin):
    list_display = ["name", "slug", "vendor", "system", "component_count", "order", "is_public"]
    ordering = ["order", "name"]  # counting rows of others drops the model's own
    list_filter = ["is_public", "vendor", "system", OriginFilter]
    list_editable = ["order", "is_public"]
    search_fields = ["name", "slug", "summary"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [PlacementInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Stack]:
        rows: QuerySet[Stack] = super().get_queryset(request)
        return rows.annotate(standing=Count("placements"))

    @admin.display(description=_("components"), ordering="standing")
    def component_count(self, stack: Stack) -> int:
        return int(stack.standing)  # type: ignore[attr-defined]


class CounterpartInline(RelationAdmin, admin.StackedInline[Counterpart, Component]):
    model = Counterpart
    fk_name = "component"
    fields = [("other", "relation"), "differs", "source"]
    autocomplete_fields = ["other", "source"]
    extra = 0


@admin.register(Component)
class ComponentAdmin(HistoryAdmin):
    list_display = ["name", "slug", "layer", "role", "maker", "part_of", "stack_count", "release_count"]
    ordering = ["name"]  # counting rows of others drops the model's own
    list_filter = ["layer", "stacks", OriginFilter, "role"]
    list_select_related = ["part_of"]
    search_fields = ["name", "slug", "maker", "what_it_is", "what_it_does", "install"]
    autocomplete_fields = ["part_of", "source"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [CounterpartInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Component]:
        rows: QuerySet[Component] = super().get_queryset(request)
        return rows.annotate(standing=Count("placements", distinct=True), released=Count("releases", distinct=True))

    @admin.display(description=_("stacks"), ordering="standing")
    def stack_count(self, component: Component) -> int:
        return int(component.standing)  # type: ignore[attr-defined]

    @admin.display(description=_("releases"), ordering="released")
    def release_count(self, component: Component) -> int:
        return int(component.released)  # type: ignore[attr-defined]


@admin.register(Counterpart)
class CounterpartAdmin(HistoryAdmin):
    list_display = ["component", "other", "relation", "differs"]
    list_filter = ["relation", OriginFilter, "component__layer"]
    list_select_related = ["component", "other"]
    search_fields = ["component__name", "component__slug", "other__name", "other__slug", "differs"]
    autocomplete_fields = ["component", "other", "source"]


@admin.register(UnfilledRole)
class UnfilledRoleAdmin(HistoryAdmin):
    list_display = ["role", "stack", "done_by", "explanation"]
    list_filter = ["stack", OriginFilter, "role"]
    list_select_related = ["stack", "done_by"]
    search_fields = ["role", "stack__name", "done_by__name", "explanation"]
    autocomplete_fields = ["stack", "done_by", "source"]


@admin.register(Placement)
class PlacementAdmin(HistoryAdmin):
    list_display = ["component", "stack", "kind", "order", "version", "since", "until", "role"]
    list_filter = ["stack", "kind", "component__layer"]
    list_select_related = ["component", "stack"]
    search_fields = ["component__name", "component__slug", "version", "since", "until", "note"]
    autocomplete_fields = ["component", "stack"]


@admin.register(Call)
class CallAdmin(RelationAdmin, admin.ModelAdmin[Call]):
    list_display = ["caller", "callee", "stack"]
    list_filter = ["stack"]
    list_select_related = ["caller", "callee", "stack"]
    search_fields = ["caller__name", "callee__name"]
    autocomplete_fields = ["caller", "callee", "stack"]


class SupportFilter(admin.SimpleListFilter):
    """Filter releases by whether the end of support is known."""

    title = _("end of support")
    parameter_name = "end"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, ARG002 - Django's
        return [("known", _("known")), ("unknown", _("not known"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Release]) -> QuerySet[Release]:  # noqa: ARG002
        if self.value() is None:
            return queryset
        return queryset.filter(support_ends="") if self.value() == "unknown" else queryset.exclude(support_ends="")


class RequirementInline(RelationAdmin, admin.TabularInline[Requirement, Release]):
    model = Requirement
    fields = ["relation", "subject", "low", "values", "platform", "part", "confidence", "source", "note"]
    autocomplete_fields = ["source"]
    extra = 1


@admin.register(Release)
class ReleaseAdmin(HistoryAdmin):
    list_display = ["component", "version", "variant", "line", "released", "support_ends", "requirement_count"]
    ordering = ["component", "-pk"]  # counting rows of others drops the model's own
    list_display_links = ["component", "version"]
    list_filter = ["component", SupportFilter, OriginFilter]
    list_select_related = ["component"]
    search_fields = ["component__name", "component__slug", "version", "variant", "line"]
    autocomplete_fields = ["component", "source"]
    inlines = [RequirementInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Release]:
        rows: QuerySet[Release] = super().get_queryset(request)
        return rows.annotate(needs=Count("requirements"))

    @admin.display(description=_("requirements"), ordering="needs")
    def requirement_count(self, release: Release) -> int:
        return int(release.needs)  # type: ignore[attr-defined]


@admin.register(Requirement)
class RequirementAdmin(HistoryAdmin):
    list_display = ["release", "relation", "subject", "low", "values", "platform", "part", "confidence"]
    list_filter = ["relation", "subject", "platform", "confidence", "release__component", OriginFilter]
    list_select_related = ["release__component"]
    search_fields = ["release__version", "release__variant", "release__component__name", "subject", "values", "low"]
    autocomplete_fields = ["release", "source"]


admin.site.register(StacksLoad, FileLoadAdmin)
