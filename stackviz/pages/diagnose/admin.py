"""Saved links for admins: how many, how long, how large. Neither the text nor what opens it; deleting is possible."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from stackviz.pages.diagnose.models import PrivateLink
from stackviz.web.readonly_admin import ShownOnlyAdmin


@admin.register(PrivateLink)
class PrivateLinkAdmin(ShownOnlyAdmin):
    list_display = ["kinds", "characters", "created_at", "expires_at"]
    list_filter = ["created_at", "expires_at"]
    fields = ("kinds", "characters", "created_at", "expires_at")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[PrivateLink]:
        links: QuerySet[PrivateLink] = super().get_queryset(request)
        return links.defer("text").annotate(text_length=Length("text"))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Something that must not stay can be removed before its day."""
        return bool(request.user.has_perm("diagnose.delete_privatelink"))

    @admin.display(description=gettext_lazy("characters"))
    def characters(self, link: Any) -> int:  # noqa: ANN401 (annotated above)
        return int(link.text_length)
