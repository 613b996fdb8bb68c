"""Makers, accelerators, what is published about them, and the names they report."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog import conditions
from stackviz.records.catalog.fields import FIELDS, Field, amount_of
from stackviz.records.curated.rows import (
    AnnouncingManager,
    Curated,
    EditionRow,
    FileLoad,
    history_records,
    is_slug,
    is_web_address,
)
from stackviz.records.prices.price import Price
from stackviz.report.rules.known_cards import normalized
from stackviz.web.http.addresses import address_by_name
from stackviz.web.table_file import TableRow

__all__ = [
    "LARGEST_AMOUNT", "Accelerator", "Alias", "CatalogueEdition", "CatalogueLoad", "Price", "Proposal", "Source",
    "SpecValue", "TableImport", "ValueImport", "Vendor",
]  # fmt: skip

LARGEST_AMOUNT = 1e24  # no published figure comes near; PostgreSQL counts NaN and Infinity as larger


class Vendor(models.Model):
    """A company that sells accelerators."""

    slug = models.CharField(max_length=60, unique=True, validators=[is_slug])
    name = models.CharField(max_length=120, unique=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Source(Curated):
    """A public document that says something about an accelerator; always with a web address.

    `read_as` and `read_on`: how its text was read when its figures were entered, and on which day; empty and null where
    nobody recorded it.
    """

    class Kind(models.TextChoices):
        MAKER = "maker", _("vendor")
        DEVICE = "device", _("reading from real hardware")
        PRESS = "press", _("press or reference site")
        COMMUNITY = "community", _("community project")

    class Reading(models.TextChoices):
        FIRST_HAND = "first-hand", _("the document itself was read")
        COPY = "copy", _("a copy elsewhere was read")
        QUOTE = "quote", _("read as another source quotes it")
        EXCERPT = "excerpt", _("only an excerpt was read")

    key = models.CharField(
        max_length=80, unique=True, validators=[is_slug], help_text=_("identifies it in the curated files")
    )
    title = models.CharField(max_length=300)
    url = models.CharField(max_length=600, validators=[is_web_address], verbose_name=_("address"))
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.COMMUNITY)
    read_as = models.CharField(_("read as"), max_length=10, choices=Reading.choices, blank=True)
    read_on = models.DateField(_("read on"), null=True, blank=True)

    class Meta:
        ordering = ["title"]
        constraints = [
            models.UniqueConstraint(fields=["title", "url"], name="source_title_and_address_once"),
            models.CheckConstraint(
                condition=Q(url__startswith="https://") | Q(url__startswith="http://"),
                name="source_address_is_on_the_web",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def content(self) -> tuple[object, ...]:
        # Rows that were loaded before a reading was recorded keep the digest that they had.
        reading = (str(self.read_as), str(self.read_on or "")) if self.read_as or self.read_on else ()
        return (self.key, self.title, self.url, str(self.kind), *reading)


class Accelerator(Curated):
    """One product as its vendor describes it: H100 SXM5 80GB and H100 PCIe are two rows, the two M3 Max GPUs too.

    `family` is shared by the variants of one chip (`m3-max`); empty where there is only one.
    """

    class Kind(models.TextChoices):
        GPU = "gpu", _("GPU")
        SOC = "soc", _("system on chip")
        NPU = "npu", _("neural processor")
        ASIC = "asic", _("AI processor")

    slug = models.CharField(max_length=80, unique=True, validators=[is_slug])
    name = models.CharField(max_length=120, unique=True)
    vendor = models.ForeignKey(Vendor, models.PROTECT, related_name="accelerators")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    family = models.CharField(max_length=60, blank=True, db_index=True)
    is_public = models.BooleanField(default=True)
    history = history_records()

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["vendor", "kind"], name="accelerator_vendor_kind")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return address_by_name("accelerators:sheet", self.slug)

    @property
    def short_name(self) -> str:
        """Its name without the vendor's in front: columns are narrow. Costs a query unless `vendor` is loaded."""
        return self.name.removeprefix(f"{self.vendor.name} ")

    @property
    def drawn_name(self) -> str:
        """`RTX 4090`, `M2 Ultra 76`: for drawings, without vendor and brand, and cores as a number."""
        name = self.short_name
        for brand in ("GeForce ", "Radeon ", "Instinct "):
            name = name.removeprefix(brand)
        return name.replace(" (", " ").removesuffix("-core GPU)") if name.endswith("-core GPU)") else name

    def content(self) -> tuple[object, ...]:
        return (self.slug, self.name, self.vendor_id, str(self.kind), self.family)


class SpecValue(Curated):
    """One published value of one accelerator, under one condition, from one source.

    `value` is stored as printed, in `unit`; `amount` is the same in SI base units (FLOP/s, B, B/s, W, Hz), null for
    text. Of several public values of the same field and condition one is preferred; the others are alternatives.
    `checked_by` and `checked_at`: who approved its present state; null for values from the curated files.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        UNREVIEWED = "unreviewed", _("unreviewed")
        PUBLIC = "public", _("public")
        RETIRED = "retired", _("retired")

    class Basis(models.TextChoices):
        PUBLISHED = "published", _("published")
        PROBED = "probed", _("read from a card")
        MEASURED = "measured", _("measured")
        DERIVED = "derived", _("derived")
        INFERRED = "inferred", _("inferred")

    accelerator = models.ForeignKey(Accelerator, models.CASCADE, related_name="spec_values")
    field = models.CharField(max_length=40)
    value = models.CharField(max_length=300, help_text=_("as the source prints it, without the unit"))
    unit = models.CharField(max_length=12, blank=True, help_text=_("as the source prints it; empty for text"))
    amount = models.FloatField(null=True, blank=True, editable=False)
    condition = models.CharField(max_length=conditions.MAX_CONDITION_LENGTH, blank=True)
    basis = models.CharField(max_length=10, choices=Basis.choices, default=Basis.PUBLISHED)
    source = models.ForeignKey(Source, models.PROTECT, null=True, blank=True, related_name="spec_values")
    said_by = models.CharField(
        _("stated by"),
        max_length=300,
        blank=True,
        help_text=_("who states this while no web address is known; never shown publicly"),
    )
    note = models.CharField(max_length=600, blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.UNREVIEWED)
    is_preferred = models.BooleanField(_("preferred"), default=False)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    checked_at = models.DateTimeField(null=True, blank=True, editable=False)
    history = history_records()

    class Meta:
        ordering = ["accelerator", "field", "condition", "-is_preferred", "pk"]
        indexes = [
            models.Index(fields=["accelerator", "status", "field"], name="specvalue_of_accelerator"),
            models.Index(
                fields=["field", "condition", "amount"], condition=Q(is_preferred=True), name="specvalue_ranking"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__isnull=True, unit="") | (Q(amount__isnull=False) & ~Q(unit="")),
                name="specvalue_amount_null_only_for_text",
            ),
            models.CheckConstraint(
                condition=Q(amount__isnull=True) | Q(amount__gte=0, amount__lte=LARGEST_AMOUNT),
                name="specvalue_amount_finite_not_negative",
            ),
            models.CheckConstraint(
                condition=~Q(status="public") | Q(source__isnull=False), name="specvalue_public_has_source"
            ),
            models.CheckConstraint(
                condition=Q(is_preferred=False) | Q(status="public"), name="specvalue_preferred_is_public"
            ),
            models.UniqueConstraint(
                fields=["accelerator", "field", "condition"],
                condition=Q(is_preferred=True),
                name="specvalue_one_preferred_per_condition",
                violation_error_message=_(
                    "Another value of this field and condition is already preferred. Unmark that one first."
                ),
            ),
        ]

    def __str__(self) -> str:
        where = f" ({self.condition})" if self.condition else ""
        return f"{self.field} {self.value} {self.unit}".rstrip() + where

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        self.normalise()
        super().save(*args, **kwargs)

    @property
    def registered_field(self) -> Field | None:
        return FIELDS.get(self.field)

    def normalise(self) -> None:
        """Bring the condition to its canonical text and compute `amount`. Raises ValidationError naming the field."""
        problems: dict[str, str] = {}
        field = self.registered_field
        if field is None:
            problems["field"] = _("%(field)r is not in the field registry") % {"field": self.field}
        else:
            try:
                self.amount = amount_of(field, self.value, self.unit)
            except ValueError as error:
                problems["value"] = str(error)
        try:
            self.condition = conditions.canonical(self.condition)
        except conditions.ConditionError as error:
            problems["condition"] = error.problem
        if problems:
            raise ValidationError(problems)

    def clean(self) -> None:
        self.normalise()
        if self.status == self.Status.PUBLIC and self.source is None:
            raise ValidationError({"source": _("A public value needs a source with a web address.")})

    def content(self) -> tuple[object, ...]:
        return (
            self.accelerator_id,
            self.field,
            self.value,
            self.unit,
            self.condition,
            str(self.basis),
            self.source_id,
            self.said_by,
            self.note,
            str(self.status),
            self.is_preferred,
        )


class TableImport(models.Model):
    """An uploaded table: stored as read until it is confirmed.

    `table` is the rows as text, emptied when confirmed; `left_out` names the rows that were refused.
    """

    file_name = models.CharField(max_length=200)
    reason = models.CharField(max_length=300)
    table = models.JSONField(default=list)
    left_out = models.JSONField(default=list, blank=True)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    uploaded_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-uploaded_at", "-pk"]
        default_permissions = ("view",)
        verbose_name = _("import")
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="%(class)s_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.file_name} {self.uploaded_at:%Y-%m-%d %H:%M}"

    @property
    def rows(self) -> tuple[TableRow, ...]:
        """What was uploaded; none once it is confirmed."""
        return tuple(TableRow(number, tuple(cells)) for number, cells in self.table)


class ValueImport(TableImport):
    """An uploaded table of values; once confirmed, the batch its proposals belong to."""


class Proposal(models.Model):
    """A proposed state of one public value; a second person decides.

    `target` is the value it is about: for an addition the resulting value, null until then. `before` is what the target
    said when this was proposed, `digest` its digest: a target that differs has changed meanwhile.
    """

    class Action(models.TextChoices):
        ADD = "add", _("add")
        CHANGE = "change", _("change")
        RETIRE = "retire", _("retire")
        PREFER = "prefer", _("prefer")

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        REVIEW = "review", _("in review")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    OPEN = (State.DRAFT, State.REVIEW)

    action = models.CharField(max_length=8, choices=Action.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.REVIEW)
    target = models.ForeignKey(SpecValue, models.SET_NULL, null=True, blank=True, related_name="proposals")
    accelerator = models.ForeignKey(Accelerator, models.CASCADE, related_name="proposals")
    field = models.CharField(max_length=40)
    value = models.CharField(max_length=300)
    unit = models.CharField(max_length=12, blank=True)
    condition = models.CharField(max_length=conditions.MAX_CONDITION_LENGTH, blank=True)
    basis = models.CharField(max_length=10, choices=SpecValue.Basis.choices, default=SpecValue.Basis.PUBLISHED)
    source = models.ForeignKey(Source, models.PROTECT, null=True, blank=True, related_name="proposals")
    note = models.CharField(max_length=600, blank=True)
    is_preferred = models.BooleanField(_("preferred"), default=False)
    reason = models.CharField(max_length=300)
    before = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=32, blank=True)
    batch = models.ForeignKey(ValueImport, models.SET_NULL, null=True, blank=True, related_name="proposals")
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-proposed_at", "-pk"]
        default_permissions = ("view",)
        permissions = [("propose", "Can propose values"), ("approve", "Can approve proposed values")]
        indexes = [models.Index(fields=["state", "-proposed_at"], name="proposal_queue")]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="proposal_has_a_reason"),
            models.CheckConstraint(
                condition=Q(action="add", digest="") | (~Q(action="add") & ~Q(digest="")),
                name="proposal_knows_what_it_changes",
            ),
            models.CheckConstraint(
                condition=Q(action="retire") | Q(source__isnull=False), name="proposal_for_the_public_has_source"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "review"], decided_at__isnull=True)
                | Q(state__in=["approved", "rejected", "withdrawn"], decided_at__isnull=False),
                name="proposal_decided_has_a_moment",
            ),
            models.CheckConstraint(condition=~Q(state="rejected") | ~Q(answer=""), name="proposal_rejected_says_why"),
            models.UniqueConstraint(
                fields=["target"],
                condition=Q(state__in=["draft", "review"]),
                name="proposal_one_open_per_value",
                violation_error_message=_(
                    "A change to this value has already been proposed. Decide on that proposal first."
                ),
            ),
            models.UniqueConstraint(
                fields=["accelerator", "field", "condition", "source"],
                condition=Q(state__in=["draft", "review"], action="add"),
                name="proposal_one_open_addition",
                violation_error_message=_("This addition has already been proposed. Decide on that proposal first."),
            ),
        ]

    def __str__(self) -> str:
        where = f" ({self.condition})" if self.condition else ""
        return f"{self.accelerator.name}: {self.field} {self.value} {self.unit}".rstrip() + where


class Alias(Curated):
    """A name by which a machine, a tool or a shop calls an accelerator.

    Several products may report one name. Where `memory_bytes` (as printed) or `gpu_cores` is given, the name is this
    accelerator's only together with it; a name of kind UNDECIDED is never enough.
    """

    class Kind(models.TextChoices):
        REPORTED = "reported", _("reported by the card")
        MACHINE = "machine", _("machine model")
        PRODUCT = "product", _("product name")
        UNDECIDED = "undecided", _("ambiguous: see the note")

    accelerator = models.ForeignKey(Accelerator, models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=200)
    normalized = models.CharField(max_length=200, db_index=True, editable=False)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.REPORTED)
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    gpu_cores = models.PositiveIntegerField(null=True, blank=True)
    source = models.ForeignKey(Source, models.PROTECT, null=True, blank=True, related_name="aliases")
    note = models.CharField(max_length=600, blank=True)
    history = history_records()

    class Meta:
        ordering = ["accelerator", "kind", "name"]
        verbose_name_plural = "aliases"
        constraints = [
            models.UniqueConstraint(
                F("accelerator"),
                F("normalized"),
                Coalesce(F("memory_bytes"), Value(0)),
                Coalesce(F("gpu_cores"), Value(0)),
                name="alias_once_per_accelerator",
                violation_error_message=_("This accelerator already has this name."),
            ),
            models.CheckConstraint(condition=~Q(normalized=""), name="alias_is_not_empty"),
            models.CheckConstraint(
                condition=Q(memory_bytes__isnull=True) | Q(memory_bytes__gt=0), name="alias_memory_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        self.normalized = normalized(self.name)
        super().save(*args, **kwargs)

    def clean(self) -> None:
        self.normalized = normalized(self.name)
        if not self.normalized:
            raise ValidationError({"name": _("This name consists only of the vendor's name.")})

    def content(self) -> tuple[object, ...]:
        return (
            self.accelerator_id,
            self.name,
            str(self.kind),
            self.memory_bytes,
            self.gpu_cores,
            self.source_id,
            self.note,
        )


class CatalogueLoad(FileLoad):
    """One load of the catalogue's curated files."""


class CatalogueEdition(EditionRow):
    """Moves when an accelerator, a value, a price, a name, a source or a vendor is added, saved or deleted."""

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_catalogue_edition")]
