"""The events of a lab for whoever may see it."""

from datetime import datetime

from django.db.models import Q, QuerySet

from stackviz.intake.notices.models import LabEvent, Webhook
from stackviz.records.labs.models import Lab

STANDING = Q(report__isnull=True) | Q(report__withdrawal__isnull=True)
"""Events but those of withdrawn reports."""


def lab_events(lab: Lab) -> QuerySet[LabEvent]:
    """Events of a lab, the newest first, with what their texts need; without those of withdrawn reports. One query."""
    events = LabEvent.objects.filter(STANDING, lab=lab)
    return events.select_related("machine__lab", "report__machine__lab", "series").defer("report__body").order_by("-pk")


def webhook_disabled_at(lab: Lab) -> datetime | None:
    """When the lab's webhook was disabled; None where it works, or there is none. One query."""
    return Webhook.objects.filter(lab=lab).values_list("disabled_at", flat=True).first()
