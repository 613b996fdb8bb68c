"""What the admin shows of rows that nobody edits by hand."""

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import CASCADE, Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stackviz.web.readonly_admin import ShownOnlyAdmin

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


class ReadOnlyAdmin(ShownOnlyAdmin):
    """Shown only, and by the page: counting all rows of a long table is left out.

    `shown`: what the page of one row shows, fields and methods; empty: every field.
    """

    shown: tuple[str, ...] = ()
    show_full_result_count = False
    list_per_page = 50

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401
        return self.shown or super().get_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401, ARG002
        return self.shown


class TakesReadRowsAlong(_ModelAdmin):
    """For rows from which others were read: those cannot be deleted by themselves, and go when their origin goes.

    The question before it says how many rows of what, not each of them: a machine may have a million results.
    """

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:  # noqa: ANN401, ARG002
        counts = taken_along(self.model, [chosen.pk for chosen in objs])
        named = [str(chosen) for chosen in objs]
        return [*named, *(f"{name}: {count:,}" for name, count in counts.items())], counts, set(), []


def taken_along(model: type[Model], pks: list[Any]) -> dict[str, int]:
    """What goes when these rows go: plural name -> how many. A query for each table that cascades."""
    paths: dict[type[Model], str] = {model: "pk"}
    for owner in (waiting := [model]):
        for relation in owner._meta.related_objects:  # noqa: SLF001 (Django's documented _meta API)
            hanging = relation.related_model
            if relation.on_delete is CASCADE and isinstance(hanging, type) and hanging not in paths:
                paths[hanging] = f"{relation.field.name}__{paths[owner]}"
                waiting.append(hanging)
    return {
        str(hanging._meta.verbose_name_plural): hanging._default_manager.filter(**{f"{path}__in": pks}).count()  # noqa: SLF001
        for hanging, path in paths.items()
    }


class ReadOnlyInline(_TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False
