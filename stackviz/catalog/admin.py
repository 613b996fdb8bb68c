"""The curation desk: accelerators with values and names inline, values by themselves, sources, history, revert."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin

from stackviz.catalog import conditions
from stackviz.catalog.desk import FileLoadAdmin, OriginFilter
from stackviz.catalog.fields import FIELDS, GROUPS, grouped
from stackviz.catalog.figures import for_people
from stackviz.catalog.models import Accelerator, Alias, CatalogueLoad, Source, SpecValue, Vendor
from stackviz.units import UNITS

if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _SpecValueForm = forms.ModelForm[SpecValue]
    _SpecValueInline = admin.TabularInline[SpecValue, Accelerator]
    _AliasInline = admin.TabularInline[Alias, Accelerator]
    _SourceAdmin = admin.ModelAdmin[Source]
    _VendorAdmin = admin.ModelAdmin[Vendor]
else:
    _SpecValueForm = forms.ModelForm
    _SpecValueInline = _AliasInline = admin.TabularInline
    _SourceAdmin = _VendorAdmin = admin.ModelAdmin


def field_choices() -> list[Any]:
    """The registry's fields under their group headings, for a select box."""
    nothing: list[Any] = [("", "---------")]
    return nothing + [
        (str(group.title), [(field.name, f"{field.title} ({field.name})") for field in fields])
        for group, fields in grouped(FIELDS)
    ]


def unit_choices() -> list[tuple[str, str]]:
    """The units any field is measured in and their relatives (MiB beside MB); the empty one is for text."""
    bases = {UNITS[field.unit].si for field in FIELDS.values() if field.unit}
    fitting = [symbol for symbol, unit in UNITS.items() if symbol and unit.si in bases]
    return [("", gettext("none: text")), *((symbol, symbol) for symbol in fitting)]


class SpecValueForm(_SpecValueForm):
    """Picks for field and unit; the condition is text, checked and brought to its canonical form when saved."""

    field = forms.ChoiceField(choices=field_choices, widget=forms.Select(attrs={"style": "width:15em"}))
    unit = forms.ChoiceField(choices=unit_choices, required=False)
    reason = forms.CharField(
        max_length=300,
        required=False,
        label=_("reason of the change"),
        help_text=_("kept in the history, shown in public"),
    )

    class Meta:
        model = SpecValue
        fields = ["field", "value", "unit", "condition", "basis", "source", "said_by", "note", "status", "is_preferred"]
        widgets = {
            "value": forms.TextInput(attrs={"size": 14}),
            "condition": forms.TextInput(attrs={"size": 26, "placeholder": "sparsity=dense; accumulate=fp32"}),
            "note": forms.TextInput(attrs={"size": 30}),
        }

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.cleaned_data.get("reason"):
            self.instance.because(self.cleaned_data["reason"])


class SpecValueInline(_SpecValueInline):
    model = SpecValue
    form = SpecValueForm
    fields = ["field", "value", "unit", "condition", "basis", "source", "note", "status", "is_preferred", "reason"]
    autocomplete_fields = ["source"]
    extra = 1
    show_change_link = True
    classes = ["collapse"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[SpecValue]:
        return super().get_queryset(request).select_related("source").order_by("field", "condition", "-is_preferred")


class AliasInline(_AliasInline):
    model = Alias
    fields = ["name", "kind", "memory_bytes", "gpu_cores", "source", "note"]
    autocomplete_fields = ["source"]
    extra = 1


@admin.register(Accelerator)
class AcceleratorAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # it has no types
    list_display = ["name", "vendor", "kind", "family", "public_values", "unreviewed_values", "is_public"]
    list_filter = ["vendor", "kind", "is_public"]
    list_select_related = ["vendor"]
    search_fields = ["name", "slug", "aliases__name"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [SpecValueInline, AliasInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Accelerator]:
        public = Count("spec_values", filter=Q(spec_values__status=SpecValue.Status.PUBLIC), distinct=True)
        waiting = Count("spec_values", filter=Q(spec_values__status=SpecValue.Status.UNREVIEWED), distinct=True)
        rows: QuerySet[Accelerator] = super().get_queryset(request)
        return rows.annotate(public_count=public, unreviewed_count=waiting)

    @admin.display(description=_("public values"), ordering="public_count")
    def public_values(self, accelerator: Accelerator) -> int:
        return int(accelerator.public_count)  # type: ignore[attr-defined]

    @admin.display(description=_("unreviewed"), ordering="unreviewed_count")
    def unreviewed_values(self, accelerator: Accelerator) -> int:
        return int(accelerator.unreviewed_count)  # type: ignore[attr-defined]


class GroupFilter(admin.SimpleListFilter):
    """Values by the registry's groups, such as memory or peak rates."""

    title = _("group")
    parameter_name = "group"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ANN401, ARG002 - Django's
        return [(group.name, group.title) for group in GROUPS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> QuerySet[SpecValue]:  # noqa: ARG002
        names = [field.name for field in FIELDS.values() if field.group == self.value()]
        return queryset.filter(field__in=names) if self.value() else queryset


@admin.register(SpecValue)
class SpecValueAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # it has no types
    form = SpecValueForm
    list_display = ["accelerator", "field", "shown", "condition", "basis", "status", "is_preferred", "source_link"]
    list_filter = ["status", "is_preferred", "basis", GroupFilter, OriginFilter, "accelerator__vendor"]
    list_select_related = ["accelerator", "source"]
    search_fields = ["accelerator__name", "accelerator__slug", "field", "value", "note", "source__title"]
    autocomplete_fields = ["accelerator", "source"]
    readonly_fields = ["amount", "data_key", "changed_at", "condition_help"]
    fields = [
        "accelerator",
        "field",
        ("value", "unit", "amount"),
        "condition",
        "condition_help",
        "basis",
        "source",
        "said_by",
        "note",
        ("status", "is_preferred"),
        "reason",
        ("data_key", "changed_at"),
    ]
    actions = ["publish", "set_aside"]

    @admin.display(description=_("value"), ordering="amount")
    def shown(self, value: SpecValue) -> str:
        return for_people(value).label

    @admin.display(description=_("source"))
    def source_link(self, value: SpecValue) -> str | SafeString:
        if value.source is None:
            return value.said_by or "—"
        return format_html('<a href="{}" rel="noopener nofollow">{}</a>', value.source.url, value.source.title)

    @admin.display(description=_("conditions"))
    def condition_help(self, value: SpecValue | None) -> SafeString:  # noqa: ARG002 - Django passes the row
        rows = [(name, meaning, ", ".join(values)) for name, meaning, values in conditions.key_meanings()]
        items = SafeString("").join(format_html("<li><code>{}</code>: {} ({})</li>", *row) for row in rows)
        return format_html("<details><summary>key=value; key=value</summary><ul>{}</ul></details>", items)

    @admin.action(description=_("Publish: make public, as an alternative to what is preferred"))
    def publish(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> None:
        """Only values with a source can be public; the others stay as they are, and are named."""
        published, left = 0, []
        for value in queryset.select_related("accelerator", "source"):
            if value.source is None:
                left.append(str(value))
                continue
            value.status = SpecValue.Status.PUBLIC
            value.is_preferred = not has_preferred(value)
            value.because("published")
            value.save()
            published += 1
        self.message_user(request, _("%(n)d published.") % {"n": published})
        if left:
            self.message_user(
                request, _("Without a source, so left: %(values)s") % {"values": "; ".join(left)}, "WARNING"
            )

    @admin.action(description=_("Retire: known to be wrong, never shown"))
    def set_aside(self, request: HttpRequest, queryset: QuerySet[SpecValue]) -> None:
        for value in queryset:
            value.status, value.is_preferred = SpecValue.Status.RETIRED, False
            value.because("retired")
            value.save()
        self.message_user(request, _("%(n)d retired.") % {"n": len(queryset)})


def has_preferred(value: SpecValue) -> bool:
    """Whether another value of the same accelerator, field and condition is preferred."""
    same = SpecValue.objects.filter(accelerator=value.accelerator, field=value.field, condition=value.condition)
    return same.filter(is_preferred=True).exclude(pk=value.pk).exists()


@admin.register(Alias)
class AliasAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # it has no types
    list_display = ["name", "accelerator", "kind", "memory_bytes", "gpu_cores", "source"]
    list_filter = ["kind", "accelerator__vendor"]
    list_select_related = ["accelerator", "source"]
    search_fields = ["name", "normalized", "accelerator__name", "note"]
    autocomplete_fields = ["accelerator", "source"]
    readonly_fields = ["normalized", "data_key"]


@admin.register(Source)
class SourceAdmin(_SourceAdmin):
    list_display = ["title", "kind", "value_count", "url"]
    list_filter = ["kind"]
    search_fields = ["title", "url", "key"]
    prepopulated_fields = {"key": ["title"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        return super().get_queryset(request).annotate(spec_count=Count("spec_values"))

    @admin.display(description=_("values"), ordering="spec_count")
    def value_count(self, source: Source) -> int:
        return int(source.spec_count)  # type: ignore[attr-defined]


@admin.register(Vendor)
class VendorAdmin(_VendorAdmin):
    list_display = ["name", "slug"]
    search_fields = ["name", "slug"]


admin.site.register(CatalogueLoad, FileLoadAdmin)
