"""Read-only admin for rows that are not edited by hand."""

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import CASCADE, Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stackviz.web.readonly_admin import ShownOnlyAdmin

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _Paginator = Paginator[Any]
    _ModelAdmin = admin.ModelAdmin[Any]
    _TabularInline = admin.TabularInline[Any, Any]
else:
    _Paginator = Paginator
    _ModelAdmin = admin.ModelAdmin
    _TabularInline = admin.TabularInline

COUNTED = 10_000  # rows that are counted: a list of more ends there, and filters narrow it down
SHOWN_CHARS = 200_000  # of one document; browsers struggle with more


def pretty_json(value: Any) -> SafeString:  # noqa: ANN401 (whatever JSON holds)
    """The document indented and escaped, truncated at SHOWN_CHARS with a note."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if len(text) <= SHOWN_CHARS:
        return format_html('<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{}</pre>', text)
    cut = _("… truncated; the full text has %(count)d characters") % {"count": len(text)}
    return format_html(
        '<pre style="white-space:pre-wrap;overflow-wrap:anywhere">{}</pre><p>{}</p>', text[:SHOWN_CHARS], cut
    )


class BoundedPaginator(_Paginator):
    """Of the first COUNTED rows: neither the count nor the last page costs more, however many are stored."""

    @cached_property
    def count(self) -> int:
        return int(self.object_list.order_by()[:COUNTED].count())  # type: ignore[attr-defined]  # a query set


class ReadOnlyAdmin(ShownOnlyAdmin):
    """Read-only, paginated, without counting all rows of long tables.

    `shown`: fields and methods of the page of one row; empty: all fields.
    """

    shown: tuple[str, ...] = ()
    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401
        return self.shown or super().get_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:  # noqa: ANN401, ARG002
        return self.shown


class CascadingDeleteAdmin(_ModelAdmin):
    """Deletes derived rows, which cannot be deleted by themselves, together with their origin.

    The confirmation page shows counts instead of rows, because a machine may have a million results.
    """

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:  # noqa: ANN401, ARG002
        counts = cascade_counts(self.model, [chosen.pk for chosen in objs])
        named = [str(chosen) for chosen in objs]
        return [*named, *(f"{name}: {count}" for name, count in counts.items())], counts, set(), []


def cascade_counts(model: type[Model], pks: list[Any]) -> dict[str, str]:
    """Plural name -> how many rows are deleted with these rows, in words. One query per cascading table."""
    paths: dict[type[Model], str] = {model: "pk"}
    for owner in (waiting := [model]):
        for relation in owner._meta.related_objects:  # noqa: SLF001 (Django's documented _meta API)
            hanging = relation.related_model
            if relation.on_delete is CASCADE and isinstance(hanging, type) and hanging not in paths:
                paths[hanging] = f"{relation.field.name}__{paths[owner]}"
                waiting.append(hanging)
    return {
        str(hanging._meta.verbose_name_plural): _count_text(hanging._default_manager.filter(**{f"{path}__in": pks}))  # noqa: SLF001
        for hanging, path in paths.items()
    }


def _count_text(rows: QuerySet[Any]) -> str:
    count = rows.order_by()[: COUNTED + 1].count()
    return f"{count:,}" if count <= COUNTED else _("more than %(n)s") % {"n": f"{COUNTED:,}"}


class ReadOnlyInline(_TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False
