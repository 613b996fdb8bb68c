"""Machines of a lab, the keys of their agents, and when an agent was last heard of."""

from datetime import datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.records.labs.models.members import Lab
from stackviz.web.http.address import machine_subject
from stackviz.web.http.addresses import address_by_name


class Machine(models.Model):
    """One computer of a lab, as it stands there: what its cards are sold as is the catalogue's `Accelerator`.

    `identity` is a SHA-256 over ids that survive reboots, made by the agent; None until the first report of a machine
    that an admin announced. `latest_taken_at` is the time of `latest_snapshot`: kept beside it so that one UPDATE can
    decide which of two reports is newer, though they are read at once or out of order. `times_read` grows with whatever
    is read, read again or deleted of the machine, so that answers made of its results know when they are out of date.
    `merged_into`: the machine that has its reports now and gets those of its identity; its address leads there.
    """

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="machines", db_index=False)
    slug = models.SlugField(max_length=80)
    name = models.CharField(max_length=200)
    identity = models.CharField(
        max_length=64,
        null=True,
        blank=True,
        help_text=_(
            "SHA-256 of stable ids, from the machine's first report. Clear it to let another computer take over."
        ),
    )
    latest_snapshot = models.ForeignKey(
        "Snapshot", on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    latest_taken_at = models.DateTimeField(null=True, blank=True, editable=False)
    times_read = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)
    merged_into = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, editable=False, related_name="merged"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("slug",)
        constraints = (
            models.UniqueConstraint(fields=("lab", "slug"), name="machine_slug_once_per_lab"),
            models.UniqueConstraint(
                fields=("lab", "identity"), condition=Q(identity__isnull=False), name="machine_identity_once_per_lab"
            ),
            models.CheckConstraint(condition=~Q(identity=""), name="machine_identity_unknown_is_null"),
            models.CheckConstraint(
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")), name="machine_not_merged_into_itself"
            ),
            models.CheckConstraint(
                condition=Q(merged_into__isnull=True) | Q(latest_snapshot__isnull=True),
                name="machine_merged_shows_no_report",
            ),
        )
        indexes = (models.Index(fields=("-latest_taken_at",), name="machine_newest_report"),)

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The machine's page. Costs a query unless `lab` is loaded."""
        return address_by_name("machines:machine", self.lab.slug, self.slug)

    @property
    def subject(self) -> str:
        """How the address of a comparison names it. Costs a query unless `lab` is loaded."""
        return machine_subject(self.lab.slug, self.slug)

    def clean(self) -> None:
        self.identity = self.identity or None


class AgentKey(models.Model):
    """Lets a machine, or any machine of a lab, send reports; or a program read what members of the lab see. Never both.

    The secret itself is nowhere: only its SHA-256. It holds 256 random bits: a plain fast hash is as good as the slow
    ones that protect guessable passwords.
    """

    class Scope(models.TextChoices):
        SEND = "send", _("sends reports")
        READ = "read", _("reads")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="keys")
    scope = models.CharField(max_length=4, choices=Scope, default=Scope.SEND, db_default="send")
    machine = models.ForeignKey(
        Machine,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="keys",
        help_text=_("Only this machine can use the key. Leave empty for any machine of the lab, including new ones."),
    )
    name = models.CharField(max_length=100, help_text=_("Where the key is used, such as “dgx-07, cron”."))
    prefix = models.CharField(max_length=8, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    expires_at = models.DateTimeField(null=True, blank=True, help_text=_("Leave empty for a key that never expires."))
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
                name="agentkey_expires_after_creation",
            ),
            models.CheckConstraint(condition=Q(scope__in=("send", "read")), name="agentkey_scope_is_known"),
            models.CheckConstraint(
                condition=Q(scope="send") | Q(machine__isnull=True),
                name="agentkey_that_reads_is_of_the_lab",
                violation_error_message=_("A key that reads is for the whole lab: leave the machine empty."),
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} (aw_{self.prefix}_…)"

    def clean(self) -> None:
        if self.machine is not None and self.machine.lab_id != self.lab_id:
            raise ValidationError({"machine": _("This machine belongs to another lab.")})
        if self.expires_at is not None and self.expires_at <= self.created_at:
            raise ValidationError({"expires_at": _("The expiry date must be after the creation date.")})

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class AgentHeartbeat(models.Model):
    """When a machine's agent that stays was last heard of, and how often it promised to report.

    One row a machine, from its first sign of life on; without a row nobody promised anything, and silence means
    nothing. `busy`: why the agent measured nothing this time, empty where it did.
    """

    machine = models.OneToOneField(Machine, on_delete=models.CASCADE, primary_key=True, related_name="heartbeat")
    key = models.ForeignKey(AgentKey, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    heard_at = models.DateTimeField(default=timezone.now)
    every_s = models.PositiveIntegerField(_("interval in seconds"))
    busy = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("heard_at",)
        constraints = (models.CheckConstraint(condition=Q(every_s__gt=0), name="heartbeat_interval_is_positive"),)

    def __str__(self) -> str:
        return f"{self.machine_id} at {self.heard_at:%Y-%m-%d %H:%M}"
