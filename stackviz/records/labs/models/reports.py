"""Reports as sent, and what was read from them: snapshots, cards, findings."""

from collections.abc import Collection
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.models.machines import AgentKey, Machine
from stackviz.records.labs.wording import with_keys
from stackviz.web.http.addresses import address_by_id


class Report(models.Model):
    """One upload, kept as sent. The row is the inbox: `status` says what is left to do, the broker only wakes a worker.

    The id is the sender's, made once, so that sending again is harmless. `body` is exactly what arrived, packed as
    `encoding` says. `queued_at`: when it was last queued; None: never. `tries` counts the attempts after the first, so
    that a report which crashes its worker is given up. `interpreter`: version that read it. `content_digest`: SHA-256
    of what a report said whose body is no longer stored (`ingest/body.py`); None while the body is there.
    `withdrawal`: None for a report that counts; see `ReportWithdrawal`.

    `faults`: how often reading it met a fault of the moment, of the site and not of the report; `fault`: the last one;
    `retry_at`: when a report that waits since is tried again; None for all others.
    """

    class Status(models.TextChoices):
        RECEIVED = "received", _("received")
        READ = "read", _("read")
        FAILED = "failed", _("failed")

    class Withdrawal(models.TextChoices):
        WITHDRAWN = "withdrawn", _("withdrawn")
        SUPERSEDED = "superseded", _("superseded")

    class Fault(models.TextChoices):
        DISK = "disk-full", _("a disk was full")
        MEMORY = "out-of-memory", _("there was not enough memory")
        LOCK = "locked", _("another process kept the data locked")
        TIMEOUT = "timeout", _("the database took too long")
        DATABASE = "database-unavailable", _("the database was not available")
        SYSTEM = "system", _("the system was out of open files, or could not read its disk")

    class Encoding(models.TextChoices):
        PLAIN = "", _("plain")
        GZIP = "gzip", _("gzip")

    id = models.UUIDField(primary_key=True, editable=False)
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="reports", db_index=False)
    key = models.ForeignKey(AgentKey, on_delete=models.SET_NULL, null=True, related_name="reports")
    received_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(max_length=8, choices=Status, default=Status.RECEIVED)
    body = models.BinaryField()
    encoding = models.CharField(max_length=4, choices=Encoding, default=Encoding.PLAIN, blank=True)
    queued_at = models.DateTimeField(_("last queued at"), null=True, db_column="rung_at")
    tries = models.PositiveSmallIntegerField(_("retries"), default=0)
    faults = models.PositiveSmallIntegerField(_("faults of the site"), default=0, db_default=0)
    fault = models.CharField(
        _("last fault of the site"), max_length=20, choices=Fault, default="", db_default="", blank=True
    )
    retry_at = models.DateTimeField(_("tried again at"), null=True)
    read_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    warnings = models.JSONField(default=list, blank=True)
    unknown_fields = models.JSONField(default=list, blank=True)
    interpreter = models.PositiveSmallIntegerField(_("interpreter version"), null=True)
    content_digest = models.CharField(max_length=64, null=True, editable=False)
    withdrawal = models.CharField(max_length=10, null=True, editable=False, choices=Withdrawal)

    class Meta:
        ordering = ("-received_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(status__in=("received", "read", "failed")), name="report_status_is_known"
            ),
            models.CheckConstraint(condition=Q(encoding__in=("", "gzip")), name="report_encoding_is_known"),
            models.CheckConstraint(
                condition=~Q(status="read") | Q(read_at__isnull=False), name="report_read_says_when"
            ),
            models.CheckConstraint(condition=~Q(status="failed") | ~Q(error=""), name="report_failed_says_why"),
            models.CheckConstraint(
                condition=Q(retry_at__isnull=True) | Q(faults__gt=0) & ~Q(fault=""), name="report_put_off_says_why"
            ),
            models.CheckConstraint(
                condition=Q(withdrawal__isnull=True) | Q(withdrawal__in=("withdrawn", "superseded")),
                name="report_withdrawal_is_known",
            ),
        )
        indexes = (
            models.Index(fields=("machine", "-received_at"), name="report_of_machine_newest"),
            models.Index(fields=("-received_at",), name="report_newest"),
            models.Index(fields=("queued_at",), condition=Q(status="received"), name="report_waiting"),
            models.Index(fields=("received_at",), condition=Q(status="failed"), name="report_failed"),
        )

    def __str__(self) -> str:
        return str(self.id)

    def get_absolute_url(self) -> str:
        return address_by_id("ingest:receipt", self.id)

    @property
    def is_body_stored(self) -> bool:
        return self.content_digest is None


class Snapshot(models.Model):
    """What one report said about its machine, flat: `facts` in SI units, `absent` with the reason of each missing one.

    `taken_at` is the machine's own clock, but never later than the report arrived. `software`: list of {"component",
    "version", "found_by"}; `probes`: list of {"probe", "state", "duration_s", "detail"}.
    """

    report = models.OneToOneField(Report, on_delete=models.CASCADE, related_name="snapshot")
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="snapshots", db_index=False)
    taken_at = models.DateTimeField()
    agent = models.CharField(max_length=401, blank=True, help_text=_("Name and version of the program that sent it."))
    facts = models.JSONField(default=dict)
    absent = models.JSONField(default=dict)
    software = models.JSONField(default=list)
    probes = models.JSONField(default=list)

    class Meta:
        ordering = ("-taken_at",)
        indexes = (models.Index(fields=("machine", "-taken_at"), name="snapshot_of_machine_newest"),)

    def __str__(self) -> str:
        return f"{self.machine_id} at {self.taken_at:%Y-%m-%d %H:%M}"


class Card(models.Model):
    """One accelerator in a machine, under the name its driver reported, with its sheet where the name is known.

    `match_how`: how the sheet was found, or why none was (`catalog.match`).
    """

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="cards", db_index=False)
    index = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=200)
    vendor = models.CharField(max_length=200)
    reported_name = models.CharField(max_length=200)
    accelerator = models.ForeignKey(
        "catalog.Accelerator", on_delete=models.SET_NULL, null=True, blank=True, related_name="cards"
    )
    match_how = models.CharField(_("match method"), max_length=40, blank=True)
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    uuid_hash = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(default=dict)
    absent = models.JSONField(default=dict)

    class Meta:
        ordering = ("index",)
        constraints = (
            models.UniqueConstraint(fields=("snapshot", "index"), name="card_index_once_per_snapshot"),
            models.CheckConstraint(
                condition=Q(memory_bytes__isnull=True) | Q(memory_bytes__gt=0), name="card_memory_unknown_is_null"
            ),
        )
        indexes = (
            models.Index(
                fields=("vendor", "reported_name"), condition=Q(accelerator__isnull=True), name="card_unmatched_names"
            ),
        )

    def __str__(self) -> str:
        return f"{self.index}: {self.reported_name}"

    @property
    def public_sheet(self) -> Accelerator | None:
        """The sheet anybody may see; None where the name is in none, or in one that is not public."""
        return self.accelerator if self.accelerator is not None and self.accelerator.is_public else None


WORDED = ("title", "explanation", "advice")  # the texts of a finding that have keys


class Finding(models.Model):
    """What a rule says about a snapshot. `evidence`: the facts it rests on, as text; the rest are the rule's words.

    `wording`: title, explanation and advice as keys and values, for other languages (`wording.py`); None where they
    have none, as findings had none before November 2026.
    """

    class Severity(models.TextChoices):
        BROKEN = "broken", _("broken")
        WARNING = "warning", _("warning")
        NOTE = "note", _("note")
        CANNOT_TELL = "cannot-tell", _("cannot tell")
        FITS = "fits", _("fits")

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=100)
    severity = models.CharField(max_length=12, choices=Severity)
    component = models.CharField(max_length=100, blank=True)
    title = models.TextField()
    evidence = models.JSONField(default=dict)
    explanation = models.TextField(blank=True)
    advice = models.TextField(blank=True)
    source_title = models.TextField(blank=True)
    source_url = models.TextField(blank=True)
    wording = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=Q(severity__in=("broken", "warning", "note", "cannot-tell", "fits")),
                name="finding_severity_is_known",
            ),
        )

    def __str__(self) -> str:
        return str(self.title)

    @classmethod
    def from_db(
        cls,
        db: str | None,
        field_names: Collection[str],
        values: Collection[Any],
        **options: Any,  # noqa: ANN401
    ) -> "Finding":
        """Let its texts know their keys, where they were stored with them."""
        finding = super().from_db(db, field_names, values, **options)
        stored = vars(finding)
        wordings = stored.get("wording")
        for name, wording in wordings.items() if isinstance(wordings, dict) else ():
            if name in WORDED and name in stored:
                stored[name] = with_keys(wording, stored[name])
        return finding
