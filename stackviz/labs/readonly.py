"""What the admin shows of rows that nobody edits by hand. Imports Django only."""

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _ModelAdmin = admin.ModelAdmin[Any]
    _TabularInline = admin.TabularInline[Any, Any]
else:
    _ModelAdmin = admin.ModelAdmin
    _TabularInline = admin.TabularInline

SHOWN_CHARS = 200_000  # of one document: a browser shows more only with difficulty


def pretty_json(value: Any) -> SafeString:  # noqa: ANN401 (whatever JSON holds)
    """The document indented, cut at SHOWN_CHARS with a word about it; whatever is in it is text, not markup."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if len(text) <= SHOWN_CHARS:
        return format_html('<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{}</pre>', text)
    cut = _("… cut here; the whole has %(count)d characters") % {"count": len(text)}
    return format_html(
        '<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{}</pre><p>{}</p>', text[:SHOWN_CHARS], cut
    )


class ReadOnlyAdmin(_ModelAdmin):
    """Looked at, searched, filtered; not added to, not changed. Counting all rows of a long table is left out.

    `shown`: what the page of one row shows, fields and methods; empty: every field.
    """

    shown: tuple[str, ...] = ()
    show_full_result_count = False
    list_per_page = 50

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401
        return self.shown or super().get_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401, ARG002
        return self.shown

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False


class ReadOnlyInline(_TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False
