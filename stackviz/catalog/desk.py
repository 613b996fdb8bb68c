"""What curation desks of rooms with curated files share."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class OriginFilter(admin.SimpleListFilter):
    """Rows of the curated files, or made here."""

    title = _("origin")
    parameter_name = "origin"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, ARG002 - Django's
        return [("files", _("curated files")), ("hand", _("made here"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:  # noqa: ARG002
        if self.value() is None:
            return queryset
        return queryset.filter(data_key__isnull=self.value() == "hand")


class FileLoadAdmin(_ModelAdmin):
    """What each load of curated files did; written by the loader only."""

    list_display = ["loaded_at", "version", "summary"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False
