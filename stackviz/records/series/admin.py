"""Series and results: they come from reports and are not edited; whether a result counts is decided here."""

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from stackviz.records.catalog.curated_admin import WhyForm
from stackviz.records.labs.readonly_admin import ReadOnlyAdmin, pretty_json
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.measurement import benchmark_titles, setting_label
from stackviz.records.series.models import Result, ResultDecision, Series
from stackviz.records.series.standing import Standing, flag_words
from stackviz.records.series.words import sample_text
from stackviz.web.i18n.languages import local_address


def setting_words(series: Series) -> str:
    """`Matrix product bf16 8192³ · cuda:0`."""
    name = benchmark_titles().get((series.benchmark, series.version), series.benchmark)
    return f"{name} {setting_label(series.params)} · {series.device}"


@admin.register(Series)
class SeriesAdmin(ReadOnlyAdmin):
    list_display = ["what", "machine", "card_index", "result_count", "latest_at"]
    list_filter = ["benchmark", "machine__lab"]
    list_select_related = ["machine"]
    search_fields = ["benchmark", "device", "machine__name", "machine__slug"]

    @admin.display(description=gettext_lazy("series"))
    def what(self, series: Series) -> str:
        return setting_words(series)


@admin.register(Result)
class ResultAdmin(ReadOnlyAdmin):
    action_form = WhyForm
    actions = ["accept", "withdraw"]
    list_display = ["what", "machine", "figure", "state", "standing", "why_odd", "sample_count", "measured_at"]
    list_filter = ["standing", "state", "series__benchmark"]
    list_select_related = ["series__machine"]
    search_fields = ["=report__id", "series__machine__name"]
    ordering = ["-pk"]

    class Media:
        css = {"all": ["css/curation.css"]}

    shown = (
        "series", "report", "position", "state", "reason", "standing", "why_odd", "decisions", "measured_at", "unit",
        "median", "q1", "q3", "low", "high", "sample_count", "duration_s", "all_samples", "all_conditions",
    )  # fmt: skip

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("benchmarks.change_result")

    @admin.action(description=gettext_lazy("Accept: count in charts, with the reason"), permissions=["decide"])
    def accept(self, request: HttpRequest, rows: QuerySet[Result]) -> None:
        self._decide(request, rows, Standing.ACCEPTED)

    @admin.action(description=gettext_lazy("Withdraw: take out of every chart"), permissions=["decide"])
    def withdraw(self, request: HttpRequest, rows: QuerySet[Result]) -> None:
        self._decide(request, rows, Standing.WITHDRAWN)

    def _decide(self, request: HttpRequest, rows: QuerySet[Result], standing: Standing) -> None:
        """One decision for each row, or none where the reason is missing."""
        decided = 0
        for row in rows.select_related(None).only("pk", "report_id", "position"):
            try:
                record_decision(row, standing, request.POST.get("why", ""), request.user)
            except ValidationError as error:
                self.message_user(request, " ".join(error.messages), messages.ERROR)
                return
            decided += 1
        text = ngettext("%(n)d result changed.", "%(n)d results changed.", decided) % {"n": decided}
        self.message_user(request, text, messages.SUCCESS)

    @admin.display(description=gettext_lazy("result"))
    def what(self, result: Result) -> SafeString:
        return format_html('<span class="nowrap">{}</span>', setting_words(result.series))

    @admin.display(description=gettext_lazy("machine"))
    def machine(self, result: Result) -> str:
        return result.series.machine.name

    @admin.display(description=gettext_lazy("median"), ordering="median")
    def figure(self, result: Result) -> SafeString:
        text = "—" if result.median is None else sample_text(result.median, result.unit)
        return format_html('<span class="nowrap">{}</span>', text)

    @admin.display(description=gettext_lazy("flags"))
    def why_odd(self, result: Result) -> str:
        return ", ".join(flag_words((result.flags or "").split()))

    @admin.display(description=gettext_lazy("decisions"))
    def decisions(self, result: Result) -> str:
        rows = ResultDecision.objects.filter(report=result.report_id, position=result.position).order_by("pk")
        lines = [
            f"{row.at:%Y-%m-%d %H:%M} {row.by or gettext('somebody')}: {row.get_standing_display()}, {row.reason}"
            for row in rows.select_related("by")
        ]
        return "\n".join(lines)

    @admin.display(description=gettext_lazy("samples"))
    def all_samples(self, result: Result) -> SafeString:
        return pretty_json(result.samples)

    @admin.display(description=gettext_lazy("conditions"))
    def all_conditions(self, result: Result) -> SafeString:
        return pretty_json(result.conditions)


@admin.register(ResultDecision)
class ResultDecisionAdmin(ReadOnlyAdmin):
    """The history of what was decided, newest first."""

    list_display = ["at", "standing", "machine", "result", "reason", "by"]
    list_filter = ["standing"]
    list_select_related = ["by", "report__machine"]
    search_fields = ["=report__id", "reason", "by__username"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ResultDecision]:
        rows: QuerySet[ResultDecision] = super().get_queryset(request)
        return rows.defer("report__body")

    @admin.display(description=gettext_lazy("machine"))
    def machine(self, decision: ResultDecision) -> str:
        return decision.report.machine.name

    @admin.display(description=gettext_lazy("result"))
    def result(self, decision: ResultDecision) -> SafeString:
        url = local_address(f"/benchmarks/runs/{decision.report_id}/{decision.position}/")
        text = gettext("result %(n)d of the report") % {"n": decision.position + 1}
        return format_html('<a href="{}">{}</a>', url, text)
