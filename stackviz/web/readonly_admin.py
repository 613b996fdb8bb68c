"""Read-only pages of the admin."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest


class ShownOnlyAdmin(admin.ModelAdmin[Any]):
    """Rows can be viewed, searched and filtered, but not added, changed or deleted in the admin."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False
