"""What was timed: series of results of one machine, benchmark and setting; what people decided about a result."""

from django.conf import settings
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from stackviz.records.labs.models import Machine, Report
from stackviz.records.series.standing import Standing

NO_CARD = -1  # inside the unique index only: NULLs never equal each other there


class Series(models.Model):
    """All runs on one machine of one benchmark, version, device, card and setting: points of one line over time.

    `params_key` is the SHA-256 of the canonical JSON of `params`: equal on every machine, so it pairs series for a
    comparison. `card_index` is None for a run on no card (the CPU).

    The columns from `latest_result` on are what its results come to, see `rollup.RollUp`, kept in the transactions that
    change results. `latest_result` is the key of a result, without a foreign key: a report that is read again gets new
    results.
    """

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="series", db_index=False)
    benchmark = models.CharField(max_length=200)
    version = models.PositiveBigIntegerField()
    device = models.CharField(max_length=200)
    card_index = models.PositiveBigIntegerField(null=True, blank=True)
    params = models.JSONField(default=dict)
    params_key = models.CharField(max_length=64)
    latest_result = models.BigIntegerField(null=True, editable=False)
    latest_at = models.DateTimeField(null=True, editable=False)
    baseline = models.FloatField(null=True, editable=False)
    baseline_spread = models.FloatField(null=True, editable=False)
    baseline_runs = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    result_count = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)

    class Meta:
        verbose_name_plural = "series"
        constraints = (
            models.UniqueConstraint(
                "machine",
                "params_key",
                "benchmark",
                "version",
                "device",
                Coalesce("card_index", Value(NO_CARD)),
                name="series_once_per_machine_and_setting",
            ),
        )
        indexes = (models.Index(fields=("params_key", "benchmark"), name="series_of_setting"),)

    def __str__(self) -> str:
        setting = " ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.benchmark} v{self.version} on {self.device} {setting}".strip()


class Result(models.Model):
    """One run in a report: the raw samples, and what they come to. A failed or skipped run is a result too, with why.

    `samples`: in `unit` (seconds, or token/s of `llama-bench`), one per repeat. `median`, `q1`, `q3`, and `low` ..
    `high` (the 95 % interval of the median) are derived by `stackviz.base.stats`; None means too few samples to say.
    `position`: index in the report's results. `conditions`: clocks, power, throttling, device used, before and after,
    as sent.

    `flags`: codes of `standing.Flag` with blanks between, what reading the report found odd. `standing`: None for a
    result that counts and never was in doubt. Both are null rather than "", so that adding them rewrites no row.
    """

    class State(models.TextChoices):
        OK = "ok", _("ok")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("skipped")

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="results", db_index=False)
    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="results", db_index=False)
    position = models.PositiveSmallIntegerField()
    measured_at = models.DateTimeField()
    state = models.CharField(max_length=7, choices=State)
    reason = models.TextField(blank=True)
    unit = models.CharField(max_length=200)
    median = models.FloatField(null=True)
    q1 = models.FloatField(null=True)
    q3 = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    sample_count = models.PositiveIntegerField(default=0)
    samples = models.JSONField(default=list)
    duration_s = models.FloatField(null=True)
    conditions = models.JSONField(default=dict)
    flags = models.CharField(max_length=120, null=True, blank=True)
    standing = models.CharField(max_length=10, null=True, blank=True, choices=Standing)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("report", "position"), name="result_once_per_report_and_position"),
            models.CheckConstraint(condition=Q(state__in=("ok", "failed", "skipped")), name="result_state_is_known"),
            models.CheckConstraint(
                condition=~Q(state="ok") | Q(sample_count__gt=0, median__isnull=False), name="result_ok_has_samples"
            ),
        )
        indexes = (models.Index(fields=("series", "-measured_at"), name="result_newest_of_series"),)

    def __str__(self) -> str:
        return f"{self.series_id}: {self.state} at {self.measured_at:%Y-%m-%d %H:%M}"


class ResultDecision(models.Model):
    """What a person decided about one result, and why. Rows are only added: together they are its history.

    The newest decides the result's `standing`. Names the result by report and position, which stay when a report is
    read again and its results are written anew. `replaced_by`: the report with the result that supersedes it.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="decisions", db_index=False)
    position = models.PositiveSmallIntegerField()
    standing = models.CharField(max_length=10, choices=Standing)
    reason = models.CharField(max_length=300)
    replaced_by = models.ForeignKey(Report, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("decision about a result")
        verbose_name_plural = _("decisions about results")
        constraints = (
            models.CheckConstraint(condition=~Q(reason=""), name="resultdecision_has_a_reason"),
            models.CheckConstraint(
                condition=Q(standing__in=("flagged", "accepted", "withdrawn", "superseded")),
                name="resultdecision_standing_is_known",
            ),
        )
        indexes = (
            models.Index(fields=("report", "position", "-id"), name="resultdecision_of_result"),
            models.Index(fields=("standing", "-id"), name="resultdecision_log"),
        )

    def __str__(self) -> str:
        return f"{self.report_id} {self.position}: {self.standing}"

    def says(self, standing: str, reason: str, replaced_by: Report | None) -> bool:
        """Whether this decides the same for the same reason, whoever made it."""
        wanted = (standing, reason, replaced_by.pk if replaced_by else None)
        return (self.standing, self.reason, self.replaced_by_id) == wanted


class ChangeDecision(models.Model):
    """What a member of its lab decided about a change of level of a series. Rows are only added; the newest counts.

    A change is found anew for each page (`history.found_changes`), so it is named by the report of its first result:
    later results may move it by one or two. `factor`: rate after over rate before, as the member saw it.
    """

    class Answer(models.TextChoices):
        CONFIRMED = "confirmed", _("confirmed")
        DISMISSED = "dismissed", _("dismissed")

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="change_decisions", db_index=False)
    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="+")
    since = models.DateTimeField()
    factor = models.FloatField()
    answer = models.CharField(max_length=9, choices=Answer)
    note = models.CharField(max_length=300, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("decision about a change point")
        verbose_name_plural = _("decisions about change points")
        constraints = (
            models.CheckConstraint(
                condition=Q(answer__in=("confirmed", "dismissed")), name="changedecision_answer_is_known"
            ),
            models.CheckConstraint(condition=Q(factor__gt=0), name="changedecision_factor_positive"),
        )
        indexes = (models.Index(fields=("series", "-id"), name="changedecision_of_series"),)

    def __str__(self) -> str:
        return f"{self.series_id} since {self.since:%Y-%m-%d}: {self.answer}"
