"""The list of values as people read it: one line a value with its source, found by the words for its field."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import smart_split, unescape_string_literal
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from stackviz.desk.curation.differences import field_title
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator, SpecValue

WORDS = 10  # of a search; more are left out
_TEXTS = ("accelerator__name", "accelerator__slug", "field", "value", "note", "source__title")


class AcceleratorFilter(admin.SimpleListFilter):
    """One accelerator, by a select: there are hundreds."""

    title = gettext_lazy("accelerator")
    parameter_name = "accelerator__id__exact"
    template = "curation/accelerator_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ANN401, ARG002 - Django's
        rows = Accelerator.objects.order_by("vendor__name", "name").values_list("pk", "vendor__name", "name")
        return [(str(pk), name if name.startswith(vendor) else f"{vendor} {name}") for pk, vendor, name in rows]

    def choices(self, changelist: Any) -> Any:  # noqa: ANN401 - Django's
        """The options, and what else is chosen: the form of the select sends it along."""
        others = [(name, value) for name, value in changelist.params.items() if name != self.parameter_name]
        options = [{"value": pk, "display": name, "selected": pk == self.value()} for pk, name in self.lookup_choices]
        yield {"others": others, "parameter": self.parameter_name, "options": options}

    def queryset(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> QuerySet[SpecValue]:  # noqa: ARG002
        chosen = self.value()
        if not chosen:
            return queryset
        return queryset.filter(accelerator=int(chosen)) if chosen.isdecimal() and len(chosen) < 18 else queryset.none()


class CompactValues(admin.ModelAdmin[Any]):
    """Columns that fit a screen; the admin's own sidebar stays closed, since the filters have one."""

    list_display = ["accelerator", "label", "shown", "condition_words", "mark", "source_short", "status"]
    list_display_links = ["label"]
    sortable_by = ["accelerator", "label", "shown", "status"]

    def get_list_display(self, request: HttpRequest) -> Any:  # noqa: ANN401 - names, as below
        """Without the accelerator where one is chosen: its tabs say which."""
        columns = super().get_list_display(request)
        return [
            name for name in columns if name != "accelerator" or not request.GET.get(AcceleratorFilter.parameter_name)
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {"is_nav_sidebar_enabled": False, **(extra_context or {})}
        answer: HttpResponse = super().changelist_view(request, context)
        return answer

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's
        queryset: QuerySet[SpecValue],
        search_term: str,
    ) -> tuple[QuerySet[SpecValue], bool]:
        """Each term stands in a text of the value or in the name of its field: `h100 board power`."""
        for term in list(smart_split(search_term.replace("\0", "")))[:WORDS]:
            if term.startswith(('"', "'")) and term[0] == term[-1] and len(term) > 1:
                term = unescape_string_literal(term)  # noqa: PLW2901
            matches = Q(field__in=fields_named(term))
            for text in _TEXTS:
                matches |= Q(**{f"{text}__icontains": term})
            queryset = queryset.filter(matches)
        return queryset, False

    @admin.display(description=gettext_lazy("field"), ordering="field")
    def label(self, value: SpecValue) -> str:
        return field_title(value.field)

    @admin.display(description=gettext_lazy("value"), ordering="amount")
    def shown(self, value: SpecValue) -> str:
        return for_people(value).label

    @admin.display(description=gettext_lazy("condition"))
    def condition_words(self, value: SpecValue) -> str | SafeString:
        words = describe_condition(value.condition)
        return format_html('<span class="cut" title="{}">{}</span>', words, words) if words else ""

    @admin.display(description=gettext_lazy("source"))
    def source_short(self, value: SpecValue) -> str | SafeString:
        if value.source is None:
            return value.said_by or "—"
        title = value.source.title
        return format_html('<a class="cut" href="{}" rel="nofollow" title="{}">{}</a>', value.source.url, title, title)

    @admin.display(description=SafeString('<span title="★">★</span>'))
    def mark(self, value: SpecValue) -> SafeString:
        if not value.is_preferred:
            return SafeString("&nbsp;")
        words = _("preferred")
        return format_html('<span role="img" aria-label="{}" title="{}">★</span>', words, words)


def fields_named(term: str) -> list[str]:
    """Keys of the fields in whose name the term stands, in the reader's language or in English."""
    wanted = term.casefold()
    names = {name for name, field in FIELDS.items() if wanted in str(field.title).casefold()}
    with override("en"):
        names |= {name for name, field in FIELDS.items() if wanted in str(field.title).casefold()}
    return sorted(names)
