"""Events of labs, each stored once, and the reports whose events are still to be written."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.records.labs.models import Lab, Machine, Membership, Report
from stackviz.records.series.models import Series


class LabEvent(models.Model):
    """Something that happened on a machine of a lab and that people may want to hear of.

    `key` tells events of one kind on one machine apart, so that none is stored twice. `report`: which brought it; None
    for silence. `happened_at` is when it began, by the machine's clock; `noted_at` when this site noticed. `details`:
    of a change point the setting and the `factor` of its rate; of a finding its rule, severity and title, with the keys
    of the title (`wording`); of silence `heard_at` and `every_s`.
    """

    class Kind(models.TextChoices):
        CHANGE_POINT = "change-point", _("change point")
        FINDING = "finding", _("new finding")
        SILENCE = "silence", _("silent")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="events", db_index=False)
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="events", db_index=False)
    report = models.ForeignKey(Report, on_delete=models.CASCADE, null=True, related_name="events")
    series = models.ForeignKey(Series, on_delete=models.SET_NULL, null=True, related_name="events")
    kind = models.CharField(max_length=12, choices=Kind)
    key = models.CharField(max_length=255)
    happened_at = models.DateTimeField()
    noted_at = models.DateTimeField(default=timezone.now)
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("event of a lab")
        verbose_name_plural = _("events of labs")
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(fields=("machine", "kind", "key"), name="labevent_once"),
            models.CheckConstraint(
                condition=Q(kind__in=("change-point", "finding", "silence")), name="labevent_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(kind="silence", report__isnull=True) | ~Q(kind="silence") & Q(report__isnull=False),
                name="labevent_of_a_report_or_silence",
            ),
        )
        indexes = (
            models.Index(fields=("lab", "-id"), name="labevent_newest_of_lab"),
            models.Index(fields=("noted_at",), name="labevent_oldest"),
        )

    def __str__(self) -> str:
        return f"{self.kind} on machine {self.machine_id} at {self.happened_at:%Y-%m-%d %H:%M}"


class PendingReport(models.Model):
    """A report that was read and whose events are not written yet; the row goes in the transaction that writes them.

    `tries`: how often that failed for a mistake of ours.
    """

    report = models.OneToOneField(Report, on_delete=models.CASCADE, related_name="pending")
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name = _("report whose events are to be written")
        verbose_name_plural = _("reports whose events are to be written")
        ordering = ("tries", "pk")

    def __str__(self) -> str:
        return str(self.report_id)


class Webhook(models.Model):
    """Where a lab's events are sent as they happen, signed. A lab has one at most.

    `nonce`: what its secret is derived from, with the key of this site; the secret itself is stored nowhere. `site`:
    scheme and host of the page on which it was set, for the addresses in what is sent. Events from `since` on are sent.
    `failures`: attempts that failed in a row; `retry_at`: when the next is made; `disabled_at`: there were too many.
    `busy_until`: while a worker is sending.
    """

    lab = models.OneToOneField(Lab, on_delete=models.CASCADE, related_name="webhook")
    url = models.CharField(_("address"), max_length=500)
    nonce = models.CharField(max_length=43, editable=False)
    site = models.CharField(max_length=300, editable=False)
    since = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    failures = models.PositiveSmallIntegerField(default=0)
    problem = models.CharField(max_length=200, blank=True)
    retry_at = models.DateTimeField(_("tried again at"), null=True)
    busy_until = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(url="") & ~Q(nonce=""), name="webhook_has_address_and_nonce"),
            models.CheckConstraint(
                condition=Q(disabled_at__isnull=True) | Q(failures__gt=0), name="webhook_disabled_after_failures"
            ),
        )

    def __str__(self) -> str:
        return f"webhook of lab {self.lab_id}"


class WebhookDelivery(models.Model):
    """An event that the other end of a webhook has accepted."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.ForeignKey(LabEvent, on_delete=models.CASCADE, related_name="deliveries")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = (models.UniqueConstraint(fields=("webhook", "event"), name="webhookdelivery_once"),)

    def __str__(self) -> str:
        return f"event {self.event_id}"


class EventMail(models.Model):
    """Somebody of a lab who asked for mails about its events; the row goes when they leave it.

    Events noted after `noted_until` are in the next mail. `busy_until`: while a worker is sending.
    """

    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="event_mail")
    language = models.CharField(max_length=20)
    noted_until = models.DateTimeField(default=timezone.now)
    busy_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("subscription to mails about events")
        verbose_name_plural = _("subscriptions to mails about events")
        indexes = (models.Index(fields=("noted_until",), name="eventmail_due"),)

    def __str__(self) -> str:
        return f"mails about events for {self.membership}"
