"""The events of a lab for whoever may see it."""

from django.db.models import Q, QuerySet

from stackviz.labs.models import Lab
from stackviz.notices.models import LabEvent


def lab_events(lab: Lab) -> QuerySet[LabEvent]:
    """Events of a lab, the newest first, with what their texts need; without those of withdrawn reports. One query."""
    events = LabEvent.objects.filter(Q(report__isnull=True) | Q(report__withdrawal__isnull=True), lab=lab)
    return events.select_related("machine__lab", "report__machine__lab", "series").defer("report__body").order_by("-pk")
