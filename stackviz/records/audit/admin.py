"""The audit log for those who may read it. Nobody adds, changes or deletes."""

import json

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.records.audit.models import AuditEntry
from stackviz.web.readonly_admin import ShownOnlyAdmin

DETAILS_SHOWN = 160  # letters, in the list


@admin.register(AuditEntry)
class AuditEntryAdmin(ShownOnlyAdmin):
    list_display = ("at", "who", "action", "subject", "short_details")
    list_filter = ("at",)
    search_fields = ("=by", "action", "subject")
    fields = ("at", "who", "action", "subject", "all_details", "request_id")
    actions = None
    show_full_result_count = False
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """With the names of the accounts that still exist."""
        names = User.objects.filter(pk=OuterRef("by")).values("username")
        entries: QuerySet[AuditEntry] = super().get_queryset(request)
        return entries.annotate(by_name=Subquery(names))

    @admin.display(description=gettext_lazy("account"), ordering="by")
    def who(self, entry: AuditEntry) -> str:
        if entry.by is None:
            return _("no account")
        name = getattr(entry, "by_name", None)
        return str(name) if name else _("account %(number)d, deleted") % {"number": entry.by}

    @admin.display(description=gettext_lazy("details"))
    def short_details(self, entry: AuditEntry) -> str:
        """Of a list of permissions the beginning; the page of the entry has all of it."""
        return Truncator(self.all_details(entry)).chars(DETAILS_SHOWN)

    @admin.display(description=gettext_lazy("details"))
    def all_details(self, entry: AuditEntry) -> str:
        return json.dumps(entry.details, ensure_ascii=False) if entry.details else ""
