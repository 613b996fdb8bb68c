"""Cited results and their sources."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.deletion import Collector
from django.utils.translation import gettext_lazy as _

from stackviz.base.units import UNITS, unit_label
from stackviz.records.catalog.models import LARGEST_AMOUNT, Accelerator, TableImport
from stackviz.records.cited.amounts import amount_and_key
from stackviz.records.cited.baseline import write_baselines
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.curated.rows import Curated, EditionRow, FileLoad, history_records, is_slug, is_web_address
from stackviz.records.hosts.models import Host


class CitedSource(Curated):
    """A public document with results that its authors measured; `read_in`: the copy it was read in, if one."""

    class Kind(models.TextChoices):
        VENDOR = "vendor", _("vendor")
        PROJECT = "project", _("project")
        PAPER = "paper", _("paper")
        PRESS = "press", _("press")
        COMMUNITY = "community", _("community")

    key = models.CharField(
        max_length=80, unique=True, validators=[is_slug], help_text=_("identifies it in the curated files")
    )
    title = models.CharField(max_length=300)
    url = models.CharField(max_length=600, validators=[is_web_address], verbose_name=_("address"))
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.COMMUNITY)
    licence = models.CharField(max_length=120, blank=True)
    read_in = models.CharField(max_length=600, blank=True, help_text=_("the copy it was read in, if not the original"))

    class Meta:
        ordering = ["title", "key"]
        verbose_name = _("source of cited results")
        verbose_name_plural = _("sources of cited results")
        constraints = [
            models.CheckConstraint(
                condition=Q(url__startswith="https://") | Q(url__startswith="http://"),
                name="citedsource_address_is_on_the_web",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def content(self) -> tuple[object, ...]:
        return (self.key, self.title, self.url, str(self.kind), self.licence, self.read_in)


def leave_unmatched(collector: Collector, field: Any, rows: models.QuerySet[Any], using: str) -> None:  # noqa: ANN401
    """Results of a sheet that is deleted stay, without one: public ones become unmatched first."""
    public = rows.filter(state="public")
    collector.add_field_update(CitedResult._meta.get_field("state"), "unmatched", public)  # noqa: SLF001
    models.SET_NULL(collector, field, rows, using)


class CitedResult(Curated):
    """One figure that others measured and published.

    `value` is as printed, in `unit`; `amount` the same in the base unit, for all `count` devices together where the
    benchmark adds up. `params_key` is the digest of the parameters that must be equal for two results to be compared.
    Only public results are charted; `reason` says why the others are not.
    """

    class State(models.TextChoices):
        PUBLIC = "public", _("public")
        UNMATCHED = "unmatched", _("no sheet matches")
        DOUBTFUL = "doubtful", _("doubtful")
        WITHDRAWN = "withdrawn", _("withdrawn")

    accelerator = models.ForeignKey(
        Accelerator, leave_unmatched, null=True, blank=True, related_name="cited_results", db_index=False
    )
    host = models.ForeignKey(
        Host, models.SET_NULL, null=True, blank=True, related_name="results", help_text=_("the public host it ran on")
    )
    reported_name = models.CharField(max_length=120, help_text=_("as the source calls it"))
    count = models.PositiveIntegerField(default=1, help_text=_("how many devices worked together"))
    benchmark = models.CharField(max_length=40)
    params = models.JSONField(default=dict, blank=True)
    params_key = models.CharField(max_length=32, editable=False)
    value = models.CharField(max_length=40, help_text=_("as the source prints it, without the unit"))
    unit = models.CharField(max_length=12)
    amount = models.FloatField(editable=False)
    software = models.JSONField(default=dict, blank=True)
    date = models.DateField(null=True, blank=True, help_text=_("of the measurement or the document; empty if unknown"))
    source = models.ForeignKey(CitedSource, models.PROTECT, related_name="results")
    note = models.CharField(max_length=600, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.PUBLIC)
    reason = models.CharField(max_length=200, blank=True, help_text=_("why it is doubtful or withdrawn"))
    history = history_records()

    class Meta:
        ordering = ["benchmark", "pk"]
        verbose_name = _("cited result")
        verbose_name_plural = _("cited results")
        indexes = [
            models.Index(fields=["benchmark", "params_key", "amount"], name="citedresult_ranking"),
            models.Index(fields=["accelerator", "benchmark"], name="citedresult_of_accelerator"),
            models.Index(fields=["state", "-date", "-id"], name="citedresult_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gte=0, amount__lte=LARGEST_AMOUNT), name="citedresult_amount_finite_not_negative"
            ),
            models.CheckConstraint(
                condition=~Q(state="public") | Q(amount__gt=0), name="citedresult_public_amount_positive"
            ),
            models.CheckConstraint(
                condition=~Q(state="public") | Q(accelerator__isnull=False), name="citedresult_public_has_accelerator"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["doubtful", "withdrawn"]) | ~Q(reason=""), name="citedresult_doubt_has_a_reason"
            ),
            models.CheckConstraint(condition=Q(count__gte=1), name="citedresult_count_at_least_one"),
            models.CheckConstraint(
                condition=Q(state__in=["public", "unmatched", "doubtful", "withdrawn"]),
                name="citedresult_state_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.reported_name}: {self.value} {self.unit}"

    @property
    def printed(self) -> str:
        """The figure as its source prints it, with the unit as this site prints it."""
        return f"{self.value} {unit_label(self.unit)}".rstrip()

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        self.normalise()
        if self.pk is not None:
            write_baselines(CitedResult, [self.pk])
        super().save(*args, **kwargs)

    def normalise(self) -> None:
        """Compute `amount` and `params_key`. Raises ValidationError naming the field."""
        self.amount, self.params_key = amount_and_key(self.benchmark, self.params, self.value, self.unit)

    def clean(self) -> None:
        self.normalise()
        if self.state == self.State.PUBLIC and self.accelerator is None:
            raise ValidationError({"accelerator": _("A public result needs a spec sheet.")})
        if self.state == self.State.PUBLIC and self.host is not None and self.host.state == Host.State.WITHDRAWN:
            raise ValidationError({"state": _("Its host was withdrawn.")})
        if self.state == self.State.PUBLIC and not self.amount > 0:
            raise ValidationError({"value": _("A public result is larger than zero.")})
        if self.state in (self.State.DOUBTFUL, self.State.WITHDRAWN) and not self.reason:
            raise ValidationError({"reason": _("Say why it is doubtful or withdrawn.")})

    @property
    def si(self) -> str:
        """The base unit of `amount`."""
        return UNITS[self.unit].si

    @property
    def amount_per_device(self) -> float:
        """The share of one device, where the benchmark adds up over devices; else the amount."""
        known = CITED_BENCHMARKS.get(self.benchmark)
        return self.amount / self.count if known is not None and known.adds_up else self.amount

    @property
    def public_host(self) -> Host | None:
        """The host it was measured on, if the source describes one and it is public."""
        return self.host if self.host is not None and self.host.state == Host.State.PUBLIC else None

    def content(self) -> tuple[object, ...]:
        """Without the host: hosts are loaded, and left out, apart from results, which are no corrections for that."""
        return (
            self.accelerator_id,
            self.reported_name,
            self.count,
            self.benchmark,
            sorted(self.params.items()),
            self.value,
            self.unit,
            sorted(self.software.items()),
            str(self.date or ""),
            self.source_id,
            self.note,
            str(self.state),
            self.reason,
        )


class HostProposal(models.Model):
    """A public host that somebody without an account proposes, with the results that came with it.

    The host waits in the state `proposed` for a curator. `results`: lines of the files of cited results, by benchmark,
    which become rows with a curator's yes. Who has the token, of which only the SHA-256 is stored, may withdraw the
    host at any time, and from `withdrawn_at` on nobody publishes it again.
    """

    host = models.OneToOneField(Host, models.CASCADE, related_name="proposal")
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    results = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]
        default_permissions = ("view", "change")
        verbose_name = _("proposed public host")
        verbose_name_plural = _("proposed public hosts")

    def __str__(self) -> str:
        return str(self.host)


class CitedLoad(FileLoad):
    """One load of the curated files of cited results. `counts`: results added, changed, removed; 0 left out."""

    counts = models.JSONField(default=dict, blank=True)


class CitedImport(TableImport):
    """An uploaded table of results of one benchmark. `counts`: results added and changed, once confirmed."""

    benchmark = models.CharField(max_length=60)
    counts = models.JSONField(default=dict, blank=True)

    class Meta(TableImport.Meta):
        verbose_name = _("import of cited results")


class CitedEdition(EditionRow):
    """Moves when a cited result, one of their sources or a host is added, saved or deleted."""

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_cited_edition")]
