"""The events of a lab for whoever may see it, and how each is called."""

from datetime import datetime
from uuid import NAMESPACE_OID, uuid5

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from stackviz.intake.notices.models import LabEvent, Webhook
from stackviz.records.labs.models import Finding, Lab, Machine
from stackviz.records.labs.wording import with_keys
from stackviz.records.series.measurement import benchmark_titles, setting_label
from stackviz.records.series.words import size_text
from stackviz.report.measuring import VERSIONS
from stackviz.web.i18n.finding_text import finding_words

STANDING = Q(report__isnull=True) | Q(report__withdrawal__isnull=True)
"""Events but those of withdrawn reports."""


def lab_events(lab: Lab) -> QuerySet[LabEvent]:
    """Events of a lab, the newest first, with what their texts need; without those of withdrawn reports. One query."""
    events = LabEvent.objects.filter(STANDING, lab=lab)
    return events.select_related("machine__lab", "report__machine__lab", "series").defer("report__body").order_by("-pk")


def webhook_disabled_at(lab: Lab) -> datetime | None:
    """When the lab's webhook was disabled; None where it works, or there is none. One query."""
    return Webhook.objects.filter(lab=lab).values_list("disabled_at", flat=True).first()


# --- texts of events ---


def event_machine(event: LabEvent) -> Machine:
    """The machine that has its report now: reports move when machines are merged or split."""
    return event.report.machine if event.report is not None else event.machine


def event_title(event: LabEvent) -> str:
    """`dgx-07: 5 % slower: Matrix product bf16 8192³ · cuda:0`."""
    return f"{event_machine(event).name}: {_happening(event)}"


def _happening(event: LabEvent) -> str:
    details = event.details
    if event.kind == LabEvent.Kind.CHANGE_POINT:
        key = details["benchmark"], details["version"]
        title, size = benchmark_titles().get(key, key[0]), size_text(details["factor"], VERSIONS.get(key))
        return f"{size}: {title} {setting_label(details['params'])} · {details['device']}"
    if event.kind == LabEvent.Kind.FINDING:
        return finding_words(with_keys(details.get("wording"), details["title"]))
    heard_at = datetime.fromisoformat(details["heard_at"])
    return _("silent; last heard of on %(day)s UTC") % {"day": f"{heard_at:%Y-%m-%d %H:%M}"}


def event_id(event: LabEvent) -> str:
    """`urn:uuid:…`: the same whatever is renamed or moved, so that readers show an event once."""
    return uuid5(NAMESPACE_OID, f"{event.pk} {event.noted_at.isoformat()}").urn


def event_text(event: LabEvent) -> str:
    """`new finding · broken · 2026-11-20 08:00 UTC`."""
    severity = [str(Finding.Severity(event.details["severity"]).label)] if event.kind == LabEvent.Kind.FINDING else []
    return " · ".join([event.get_kind_display(), *severity, f"{event.happened_at:%Y-%m-%d %H:%M} UTC"])


def event_address(event: LabEvent) -> str:
    """The page that shows it, in the language of the page: a series, or a machine."""
    machine = event_machine(event)
    if event.series is not None and event.series.machine_id == machine.pk:
        return reverse("machines:series", args=[machine.lab.slug, machine.slug, event.series.pk])
    return reverse("machines:machine", args=[machine.lab.slug, machine.slug])
