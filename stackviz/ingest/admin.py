"""The inbox for admins: reports as sent, what became of them, and having them read again."""

import json

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz.ingest.body import unpack
from stackviz.ingest.reread import read_again, without_body
from stackviz.labs.delete_reports import forget_reports
from stackviz.labs.models import Report
from stackviz.labs.readonly_admin import CascadingDeleteAdmin, ReadOnlyAdmin, pretty_json
from stackviz.wire import ReportError


@admin.register(Report)
class ReportAdmin(CascadingDeleteAdmin, ReadOnlyAdmin):
    list_display = ["received_at", "machine", "status", "withdrawal", "read_at", "why", "receipt"]
    list_filter = ["status", "machine__lab", "received_at"]
    list_select_related = ["machine__lab"]
    search_fields = ["=id", "machine__name", "machine__slug"]
    shown = (
        "id", "machine", "key", "receipt", "status", "error", "received_at", "rung_at", "tries", "read_at",
        "interpreter", "encoding", "all_warnings", "all_unknown", "as_sent",
    )  # fmt: skip
    actions = ["have_read_again"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).defer("body")

    @admin.display(description=gettext_lazy("why"))
    def why(self, report: Report) -> str:
        return report.error[:120]

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
        text = ngettext(
            "%(count)d report is queued to be read again.", "%(count)d reports are queued to be read again.", count
        )
        if dropped:
            why = ngettext(
                "%(count)d report cannot be read again: it is no longer stored as it was sent.",
                "%(count)d reports cannot be read again: they are no longer stored as they were sent.",
                dropped,
            )
            self.message_user(request, why % {"count": dropped}, messages.WARNING)
        if count or not dropped:
            self.message_user(request, text % {"count": count}, messages.SUCCESS)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:  # noqa: ARG002
        forget_reports(Report.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:  # noqa: ARG002
        forget_reports(queryset)
