"""Labs, their machines and keys, the reports machines send, and what was read from them."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.models import Accelerator
from stackviz.records.labs.wording import with_keys
from stackviz.web.address import machine_subject
from stackviz.web.addresses import address_by_id, address_by_name


class Lab(models.Model):
    """Who owns machines: a group of people, or one. A private lab's machines are seen by its members only."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    is_public = models.BooleanField(default=False, help_text=_("Anyone can see this lab's machines and reports."))
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="labs")

    class Meta:
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(
                condition=~Q(slug="add"),
                name="lab_slug_is_no_page",
                violation_error_message=_("This name is reserved: /machines/add/ is a page of this site."),
            ),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return address_by_name("machines:lab", self.slug)


class Membership(models.Model):
    """One person's place in a lab: a viewer sees it though it is private, a member also works in it, an owner rules it.

    What each may do: `labs.queries.LabRights`.
    """

    class Role(models.TextChoices):
        VIEWER = "viewer", _("viewer")
        MEMBER = "member", _("member")
        OWNER = "owner", _("owner")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="memberships", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("lab", "user"), name="membership_once_per_lab_and_user"),
            models.CheckConstraint(
                condition=Q(role__in=("viewer", "member", "owner")), name="membership_role_is_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"


class Invitation(models.Model):
    """Lets one person join a lab, once. The code itself is nowhere: only its SHA-256, as of an agent key.

    Open until it is accepted, withdrawn, or `expires_at` has passed.
    """

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role, default=Membership.Role.MEMBER)
    name = models.CharField(max_length=100, help_text=_("Who is invited, in words of the lab."))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True, editable=False)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            models.CheckConstraint(
                condition=Q(role__in=("viewer", "member", "owner")), name="invitation_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True),
                name="invitation_accepted_or_withdrawn",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.role}"


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


class Reversible(models.Model):
    """What a person did and another can undo: who did it and when, and who undid it; the row stays."""

    made_at = models.DateTimeField(default=timezone.now, editable=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True, blank=True, editable=False)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        abstract = True


class NameDecision(Reversible):
    """What a curator decided about a name that cards report, and why; it stays when it is undone.

    `step` counts the decisions about one name from 1: of two people who decide at once only one can have the next.
    `kept`: what is needed to undo it, as `curation` wrote it: aliases made, and aliases changed with how they were.
    """

    class Action(models.TextChoices):
        ACCEPT = "accept", _("belongs to one accelerator")
        SPLIT = "split", _("shared by several accelerators")
        IGNORE = "ignore", _("dismissed, no spec sheet")

    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=200, blank=True)
    normalized = models.CharField(max_length=200)
    step = models.PositiveIntegerField()
    action = models.CharField(max_length=10, choices=Action)
    text = models.CharField(max_length=600, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    kept = models.JSONField(default=dict)
    made_at = models.DateTimeField(_("decided at"), default=timezone.now, editable=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("decided by")
    )

    class Meta:
        ordering = ("-made_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("normalized", "step"), name="namedecision_one_at_a_time"),
            models.CheckConstraint(
                condition=Q(action__in=("accept", "split", "ignore")), name="namedecision_action_is_known"
            ),
        )
        indexes = (
            models.Index(
                fields=("name", "vendor"),
                condition=Q(action="ignore", undone_at__isnull=True),
                name="namedecision_ignored",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.get_action_display()}"


class ReportWithdrawal(Reversible):
    """A report that its lab took back, with the reason; the row stays when staff undo it.

    `replaced_by`: the later report that supersedes it. While one stands (`undone_at` None) the report says so itself.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="withdrawals", db_index=False)
    reason = models.CharField(max_length=300)
    replaced_by = models.ForeignKey(Report, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("report",), condition=Q(undone_at__isnull=True), name="reportwithdrawal_once_at_a_time"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="reportwithdrawal_has_a_reason"),
        )
        indexes = (models.Index(fields=("report", "-id"), name="reportwithdrawal_of_report"),)

    def __str__(self) -> str:
        return f"{self.report_id}: {self.reason}"


class MachineMove(Reversible):
    """Reports that a person moved from one machine of a lab to another, and what is needed to undo it.

    A merge moves all reports of `source`, which then only leads to `target`; a split moves some to a new machine.
    `before`: keys moved, machines merged into `source` earlier, series made for the results, whether the identity went.
    """

    class Action(models.TextChoices):
        MERGE = "merge", _("merged into another machine")
        SPLIT = "split", _("reports moved to a new machine")

    action = models.CharField(max_length=5, choices=Action)
    source = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="moves_from")
    target = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="moves_to")
    reason = models.CharField(max_length=300)
    report_count = models.PositiveIntegerField(default=0)
    before = models.JSONField(default=dict)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.CheckConstraint(condition=Q(action__in=("merge", "split")), name="machinemove_action_is_known"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="machinemove_between_two_machines"),
            models.CheckConstraint(condition=~Q(reason=""), name="machinemove_has_a_reason"),
        )

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


class MovedReport(models.Model):
    """One report of a move."""

    move = models.ForeignKey(MachineMove, on_delete=models.CASCADE, related_name="moved", db_index=False)
    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("move", "report"), name="movedreport_once_per_move"),)

    def __str__(self) -> str:
        return str(self.report_id)
