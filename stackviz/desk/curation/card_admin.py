"""Reported cards and their unmatched names: view, match again, assign names to accelerators."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.desk.curation import names_page
from stackviz.records.labs.models import Card
from stackviz.records.labs.readonly_admin import ReadOnlyAdmin
from stackviz.records.labs.rematch import rematch_cards


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
        return names_page.queue_page(request, self.admin_site)

    def name_details(self, request: HttpRequest) -> HttpResponse:
        return names_page.name_page(request, self.admin_site)

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
