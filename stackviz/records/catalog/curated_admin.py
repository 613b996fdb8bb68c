"""What curation desks of rooms with curated files share."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin import helpers
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin

from stackviz.web.relation_admin import RelationAdmin

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _ModelAdmin = admin.ModelAdmin[Any]
else:
    _ModelAdmin = admin.ModelAdmin


class WhyForm(helpers.ActionForm):
    """The reason of an action on several rows."""

    why = forms.CharField(max_length=200, required=False, label=_("Reason:"))


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


class HistoryAdmin(RelationAdmin, SimpleHistoryAdmin):  # type: ignore[misc]  # it has no types
    """Admin of rows with a full history, which anyone with permission to change a row can view and restore."""

    def history_form_view(
        self,
        request: HttpRequest,
        object_id: str,
        version_id: str,
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """simple_history only hides the button from people without permission."""
        if request.method == "POST" and not self._may_bring_back(request, object_id):
            raise PermissionDenied
        answer: HttpResponse = super().history_form_view(request, object_id, version_id, extra_context)
        return answer

    def _may_bring_back(self, request: HttpRequest, object_id: str) -> bool:
        """A row that is gone would be added again."""
        row = self.get_object(request, unquote(object_id))
        may_add = row is not None or self.has_add_permission(request)
        return may_add and self.has_change_permission(request, row) and not self.revert_disabled(request, row)


class FileLoadAdmin(_ModelAdmin):
    """What each load of curated files did; written by the loader only."""

    list_display = ["loaded_at", "version", "summary"]

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False
