"""What people decided about names, reports and machines, and others can undo."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stackviz.records.labs.models.machines import Machine
from stackviz.records.labs.models.reports import Report


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
