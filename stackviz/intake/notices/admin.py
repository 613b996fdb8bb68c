"""Events of labs: they come from reports and silence, and are not edited."""

from django.contrib import admin

from stackviz.intake.notices.models import LabEvent
from stackviz.records.labs.readonly_admin import ReadOnlyAdmin


@admin.register(LabEvent)
class LabEventAdmin(ReadOnlyAdmin):
    list_display = ["kind", "machine", "happened_at", "noted_at"]
    list_filter = ["kind", "lab"]
    list_select_related = ["machine"]
    search_fields = ["=report__id", "machine__name", "machine__slug"]
    shown = ("kind", "lab", "machine", "report", "series", "happened_at", "noted_at", "details")
