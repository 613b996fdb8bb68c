"""The inbox for admins: reports as sent, what became of them, and having them read again."""

import json

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.intake.ingest.body import unpack
from stackviz.intake.ingest.reread import failed_counts, failed_of_kinds, kind_of, read_again, without_body
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.models import Report
from stackviz.records.labs.readonly_admin import CascadingDeleteAdmin, ReadOnlyAdmin, pretty_json
from stackviz.report.format import ReportError


def _queued(count: int) -> str:
    text = ngettext(
        "%(count)d report is queued to be read again.", "%(count)d reports are queued to be read again.", count
    )
    return text % {"count": count}


@admin.register(Report)
class ReportAdmin(CascadingDeleteAdmin, ReadOnlyAdmin):
    list_display = ["received_at", "machine", "status", "withdrawal", "read_at", "why", "receipt"]
    list_filter = ["status", "fault", "machine__lab", "received_at"]
    list_select_related = ["machine__lab"]
    search_fields = ["=id", "machine__name", "machine__slug"]
    shown = (
        "id", "machine", "key", "receipt", "status", "error", "received_at", "queued_at", "tries", "faults",
        "fault", "retry_at", "read_at",
        "interpreter", "encoding", "all_warnings", "all_unknown", "as_sent",
    )  # fmt: skip
    actions = ["have_read_again", "have_kinds_read_again"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer("body")

    @admin.display(description=gettext_lazy("why"))
    def why(self, report: Report) -> str:
        return report.error[:120] or str(report.get_fault_display() if report.retry_at else "")

    @admin.display(description=gettext_lazy("receipt"))
    def receipt(self, report: Report) -> SafeString:
        return format_html('<a class="nowrap" href="{}">{}…</a>', report.get_absolute_url(), str(report.pk)[:8])

    @admin.display(description=gettext_lazy("warnings"))
    def all_warnings(self, report: Report) -> SafeString:
        return pretty_json(report.warnings)

    @admin.display(description=gettext_lazy("not understood"))
    def all_unknown(self, report: Report) -> SafeString:
        return pretty_json(report.unknown_fields)

    @admin.display(description=gettext_lazy("as sent"))
    def as_sent(self, report: Report) -> SafeString:
        if not report.is_body_stored:
            return format_html("{}", _("the raw report is no longer stored; what was read from it is"))
        try:
            return pretty_json(json.loads(unpack(bytes(report.body), report.encoding)))
        except (ReportError, ValueError) as error:
            return format_html("{}", _("cannot be shown: %(error)s") % {"error": error})

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """A report sent by mistake can go, and takes with it what was read from it (`forget_reports`)."""
        return request.user.has_perm("labs.delete_report")

    def has_reread_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("labs.change_report")

    @admin.action(description=gettext_lazy("Read the selected reports again"), permissions=["reread"])
    def have_read_again(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        chosen = list(queryset.values_list("pk", flat=True))
        dropped = len(without_body(chosen))
        count = read_again(chosen)
        if dropped:
            why = ngettext(
                "%(count)d report cannot be read again: it is no longer stored as it was sent.",
                "%(count)d reports cannot be read again: they are no longer stored as they were sent.",
                dropped,
            )
            self.message_user(request, why % {"count": dropped}, messages.WARNING)
        if count or not dropped:
            self.message_user(request, _queued(count), messages.SUCCESS)

    @admin.action(description=gettext_lazy("Read all failed reports of the same kinds again"), permissions=["reread"])
    def have_kinds_read_again(self, request: HttpRequest, queryset: QuerySet[Report]) -> HttpResponse | None:
        """Every failed report with an error as the selected ones have; asks once, with the number of each kind."""
        errors = queryset.filter(status=Report.Status.FAILED).values_list("error", flat=True)
        kinds = failed_counts(set(map(kind_of, errors)))
        if "confirmed" not in request.POST:
            return self._ask_before_reading_again(request, kinds)
        count = read_again(failed_of_kinds(kinds))
        self.message_user(request, _queued(count), messages.SUCCESS)
        return None

    def _ask_before_reading_again(self, request: HttpRequest, kinds: dict[str, int]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Read all of a kind again"),
            "opts": self.opts,
            "kinds": kinds,
            "total": sum(kinds.values()),
            "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        }
        return TemplateResponse(request, "ingest/admin/read_kinds_again.html", context)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:  # noqa: ARG002
        forget_reports(Report.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:  # noqa: ARG002
        forget_reports(queryset)
