"""Series and results, to look at: they come from reports and are not edited."""

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from stackviz.benchmarks.models import Result, Series
from stackviz.labs.readonly_admin import ReadOnlyAdmin, pretty_json


@admin.register(Series)
class SeriesAdmin(ReadOnlyAdmin):
    list_display = ["benchmark", "version", "machine", "device", "card_index", "params"]
    list_filter = ["benchmark", "machine__lab"]
    list_select_related = ["machine"]
    search_fields = ["benchmark", "device", "machine__name", "machine__slug"]


@admin.register(Result)
class ResultAdmin(ReadOnlyAdmin):
    list_display = ["series", "state", "median", "unit", "sample_count", "measured_at"]
    list_filter = ["state", "series__benchmark"]
    list_select_related = ["series"]
    search_fields = ["=report__id", "series__machine__name"]
    ordering = ["-pk"]
    shown = (
        "series", "report", "position", "state", "reason", "measured_at", "unit", "median", "q1", "q3", "low", "high",
        "sample_count", "duration_s", "all_samples", "all_conditions",
    )  # fmt: skip

    @admin.display(description=gettext_lazy("samples"))
    def all_samples(self, result: Result) -> SafeString:
        return pretty_json(result.samples)

    @admin.display(description=gettext_lazy("conditions"))
    def all_conditions(self, result: Result) -> SafeString:
        return pretty_json(result.conditions)
