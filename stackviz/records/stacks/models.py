"""Stacks, the components they are made of, what answers to what across stacks, and which release needs what."""

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from stackviz.draw.diagrams.layers import LAYER_TITLES, role_title
from stackviz.records.catalog.models import Source
from stackviz.records.curated.rows import Curated, EditionRow, FileLoad, history_records, is_slug, is_web_address
from stackviz.records.stacks.limits import LIMITS
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.curated_text import curated_words

is_partial_date = RegexValidator(
    r"\A\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?\Z", _("a day such as 2026-11-20 or a month such as 2026-11")
)
is_limit = RegexValidator(LIMITS, _("components with a release, or architectures: pytorch 2.0, compute-capability 7.5"))
LAYER_CHOICES = [(layer.value, _(title)) for layer, title in LAYER_TITLES.items()]


class Component(Curated):
    """One piece of software or hardware that stands in a stack; its slug is the one reports use."""

    slug = models.CharField(max_length=60, unique=True, validators=[is_slug])
    name = models.CharField(max_length=80)
    maker = models.CharField(_("vendor"), max_length=80, blank=True)
    layer = models.CharField(max_length=12, choices=LAYER_CHOICES)
    role = models.CharField(
        max_length=40,
        validators=[is_slug],
        help_text=_("the job it does: components with the same role share a row of the diagram"),
    )
    part_of = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="parts",
        help_text=_("ships with this component and has no releases of its own"),
    )  # fmt: skip
    what_it_is = models.TextField(max_length=500, help_text=_("one sentence"))
    what_it_does = models.TextField(max_length=500, help_text=_("one sentence: what it does, who calls it"))
    see_version = models.CharField(_("how to see its version"), max_length=300, blank=True)
    install = models.CharField(_("how to install it"), max_length=300, blank=True)
    docs_url = models.CharField(_("documentation"), max_length=300, blank=True, validators=[is_web_address])
    source = models.ForeignKey(Source, models.PROTECT, related_name="components")
    history = history_records()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(layer__in=[value for value, _title in LAYER_CHOICES]), name="component_layer_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(what_it_is="") & ~Q(what_it_does=""), name="component_is_described_in_two_sentences"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return address_by_name("stacks:component", self.slug)

    @property
    def local_name(self) -> str:
        """The name in the language of the page: names in plain words are translated, proper names are not."""
        return curated_words(self.name)

    @property
    def description(self) -> str:
        """Both sentences."""
        return f"{self.what_it_is} {self.what_it_does}"

    @property
    def role_title(self) -> str:
        return role_title(self.role)

    def content(self) -> tuple[object, ...]:
        return (
            self.slug, self.name, self.maker, self.layer, self.role, self.part_of_id, self.what_it_is,
            self.what_it_does, self.see_version, self.docs_url, self.source_id, *filter(None, (self.install,)),
        )  # fmt: skip


class Stack(Curated):
    """A way from silicon to the program that people name as one: NVIDIA CUDA on Linux."""

    slug = models.CharField(max_length=40, unique=True, validators=[is_slug])
    name = models.CharField(max_length=80, unique=True)
    vendor = models.CharField(
        max_length=60, blank=True, validators=[is_slug], help_text=_("vendor of its accelerators, as in the catalogue")
    )
    system = models.CharField(max_length=20, blank=True, help_text=_("linux, windows, macos; empty for any"))
    summary = models.TextField(max_length=600)
    order = models.PositiveSmallIntegerField(default=0)
    is_public = models.BooleanField(default=True)
    components: "models.ManyToManyField[Component, Placement]" = models.ManyToManyField(
        Component, through="Placement", related_name="stacks"
    )
    history = history_records()

    class Meta:
        ordering = ["order", "name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return address_by_name("stacks:stack", self.slug)

    @property
    def subject(self) -> str:
        """The name in addresses of comparisons."""
        return f"stack:{self.slug}"

    @property
    def local_name(self) -> str:
        """The name in the language of the page: names in plain words are translated, proper names are not."""
        return curated_words(self.name)

    def content(self) -> tuple[object, ...]:
        return (self.slug, self.name, self.vendor, self.system, self.summary, self.order)


class Placement(Curated):
    """A component standing in a stack. `version` is shown in the version's place: a demand, or a device name.

    Only what stands on a layer is drawn. A tool watches the stack: what it reads are its calls. `since` and `until`
    (`limits`) keep it out of drawings of machines and accelerators that cannot have it.
    """

    class Kind(models.TextChoices):
        LAYER = "layer", _("on its layer")
        TOOL = "tool", _("monitors the stack")
        BESIDE = "beside", _("related, not drawn")

    stack = models.ForeignKey(Stack, models.CASCADE, related_name="placements")
    component = models.ForeignKey(Component, models.CASCADE, related_name="placements")
    order = models.PositiveSmallIntegerField(default=0, help_text=_("position within its layer"))
    kind = models.CharField(max_length=6, choices=Kind.choices, default=Kind.LAYER)
    version = models.CharField(max_length=120, blank=True)
    role = models.CharField(
        max_length=40, blank=True, validators=[is_slug], help_text=_("if it has a different role here")
    )
    note = models.CharField(max_length=300, blank=True)
    since = models.CharField(
        max_length=120,
        blank=True,
        validators=[is_limit],
        help_text=_("exists from this release or architecture on: pytorch 2.0, compute-capability 7.5"),
    )
    until = models.CharField(
        max_length=120,
        blank=True,
        validators=[is_limit],
        help_text=_("exists up to this release or architecture"),
    )
    history = history_records()

    class Meta:
        ordering = ["stack", "order", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["stack", "component"], name="component_stands_in_a_stack_once"),
        ]

    def __str__(self) -> str:
        return f"{self.component} in {self.stack}"

    def content(self) -> tuple[object, ...]:
        kind = () if self.kind == self.Kind.LAYER else (str(self.kind),)
        limits = (f"since {self.since} until {self.until}",) if self.since or self.until else ()
        return (self.stack_id, self.component_id, self.order, self.version, self.role, self.note, *kind, *limits)


class Call(Curated):
    """In one stack, `caller` calls `callee`."""

    stack = models.ForeignKey(Stack, models.CASCADE, related_name="calls")
    caller = models.ForeignKey(Component, models.CASCADE, related_name="calls_out")
    callee = models.ForeignKey(Component, models.CASCADE, related_name="calls_in")

    class Meta:
        ordering = ["stack", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["stack", "caller", "callee"], name="call_once_per_stack"),
            models.CheckConstraint(condition=~Q(caller=F("callee")), name="component_does_not_call_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.caller} → {self.callee}"

    def content(self) -> tuple[object, ...]:
        return (self.stack_id, self.caller_id, self.callee_id)


class Counterpart(Curated):
    """A component with the same role on another stack, and what differs. Read both ways."""

    class Relation(models.TextChoices):
        SAME_ROLE = "same-role", _("same role")
        PARTIAL = "partial", _("partly")

    component = models.ForeignKey(Component, models.CASCADE, related_name="counterparts")
    other = models.ForeignKey(Component, models.CASCADE, related_name="counterparts_of")
    relation = models.CharField(max_length=10, choices=Relation.choices)
    differs = models.TextField(_("what differs"), max_length=600)
    source = models.ForeignKey(Source, models.PROTECT, related_name="counterparts")
    history = history_records()

    class Meta:
        ordering = ["component", "pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(other=F("component")), name="component_is_not_its_own_counterpart"),
            models.CheckConstraint(condition=~Q(differs=""), name="counterpart_says_what_differs"),
            models.UniqueConstraint(fields=["component", "other"], name="counterpart_of_two_components_once"),
        ]

    def __str__(self) -> str:
        return f"{self.component} ~ {self.other if self.other_id else '–'}"  # old records of gaps name no other

    def content(self) -> tuple[object, ...]:
        # None: a field that is gone; without it every row of an earlier load would count as corrected.
        return (self.component_id, self.other_id, None, self.relation, self.differs, self.source_id)


class UnfilledRole(Curated):
    """A role that no component of its own has on a stack: the component that does its job there, or None if none does.

    `explanation`: how, or why not.
    """

    stack = models.ForeignKey(Stack, models.CASCADE, related_name="unfilled_roles")
    role = models.CharField(max_length=40, validators=[is_slug])
    done_by = models.ForeignKey(
        Component,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("empty if nothing does this job"),
    )
    explanation = models.TextField(max_length=600)
    source = models.ForeignKey(Source, models.PROTECT, related_name="unfilled_roles")
    history = history_records()

    class Meta:
        ordering = ["stack", "role"]
        constraints = [
            models.UniqueConstraint(fields=["stack", "role"], name="unfilled_role_once_per_stack"),
            models.CheckConstraint(condition=~Q(explanation=""), name="unfilled_role_is_explained"),
        ]

    def __str__(self) -> str:
        return f"{self.role} in {self.stack}: {self.done_by or '–'}"

    def clean(self) -> None:
        placed = Placement.objects.filter(stack=self.stack_id, kind=Placement.Kind.LAYER).select_related("component")
        if self.role in {row.role or row.component.role for row in placed}:
            raise ValidationError({"role": _("A component of this stack has this role.")})
        if self.done_by and not Placement.objects.filter(stack=self.stack_id, component=self.done_by).exists():
            raise ValidationError({"done_by": _("Choose a component of this stack, or none.")})

    def content(self) -> tuple[object, ...]:
        return (self.stack_id, self.role, self.done_by_id, self.explanation, self.source_id)


class Release(Curated):
    """One release of a component, or a line of releases where the source speaks of one ("535", "12").

    `variant` tells builds or platforms of one version apart ("cu128", "linux"). Dates are as exact as the source:
    a day, a month, or empty for not known.
    """

    component = models.ForeignKey(Component, models.CASCADE, related_name="releases")
    version = models.CharField(max_length=40)
    variant = models.CharField(max_length=40, blank=True)
    line = models.CharField(max_length=60, blank=True, help_text=_("LTS, production, Update 1, ..."))
    released = models.CharField(max_length=10, blank=True, validators=[is_partial_date])
    support_ends = models.CharField(max_length=10, blank=True, validators=[is_partial_date])
    source = models.ForeignKey(Source, models.PROTECT, related_name="releases")
    note = models.CharField(max_length=400, blank=True)
    history = history_records()

    class Meta:
        ordering = ["component", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["component", "version", "variant"], name="release_once"),
            models.CheckConstraint(condition=~Q(version=""), name="release_has_a_version"),
        ]

    def __str__(self) -> str:
        return " ".join(filter(None, (str(self.component), self.version, self.variant)))

    def content(self) -> tuple[object, ...]:
        return (
            self.component_id, self.version, self.variant, self.line, self.released, self.support_ends, self.source_id,
            self.note,
        )  # fmt: skip


class Requirement(Curated):
    """One thing a release needs, ships, offers or supports: `low` or better, or exactly `values`.

    `subject` is a component's slug or a word of its own (compute-capability, glibc, wheel); `part` names the part of
    the release it is about ("mps"); `platform` is empty where it holds on all.
    """

    class Relation(models.TextChoices):
        NEEDS = "needs", _("needs")
        SHIPS = "ships", _("ships")
        OFFERS = "offers", _("offers")
        SUPPORTS = "supports", _("supports")
        BUILT_FOR = "built-for", _("has code for")
        COMPILES_FOR = "compiles-for", _("can be compiled for")
        ENDS_WITH = "ends-with", _("ends with")

    class Confidence(models.TextChoices):
        HIGH = "high", _("high")
        MEDIUM = "medium", _("medium")
        LOW = "low", _("low")

    release = models.ForeignKey(Release, models.CASCADE, related_name="requirements")
    platform = models.CharField(max_length=20, blank=True)
    relation = models.CharField(max_length=12, choices=Relation.choices)
    subject = models.CharField(max_length=60, validators=[is_slug])
    part = models.CharField(max_length=40, blank=True)
    low = models.CharField(_("at least"), max_length=40, blank=True)
    values = models.CharField(_("exactly"), max_length=300, blank=True, help_text=_("separated by spaces"))
    confidence = models.CharField(max_length=6, choices=Confidence.choices, default=Confidence.HIGH)
    source = models.ForeignKey(Source, models.PROTECT, related_name="requirements")
    note = models.CharField(max_length=400, blank=True)
    history = history_records()

    class Meta:
        ordering = ["release", "relation", "subject", "pk"]
        indexes = [models.Index(fields=["subject", "relation"], name="requirement_by_subject")]
        constraints = [
            models.UniqueConstraint(
                fields=["release", "platform", "relation", "subject", "part"], name="requirement_once"
            ),
            models.CheckConstraint(condition=~Q(low="") | ~Q(values=""), name="requirement_says_how_much"),
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.get_relation_display()} {self.subject} {self.values or self.low}"

    def clean(self) -> None:
        if not (self.low or self.values):
            raise ValidationError({"low": _("Enter a minimum version or exact versions.")})

    def content(self) -> tuple[object, ...]:
        return (
            self.release_id, self.platform, self.relation, self.subject, self.part, self.low, self.values,
            self.confidence, self.source_id, self.note,
        )  # fmt: skip


class TableCheck(models.Model):
    """The last day on which this site's watcher held a table against a feed; the curated file has the day before it.

    `table`: as in `data/checked.csv`, such as `releases/pytorch`. `against`: the feed's title.
    """

    table = models.CharField(max_length=80, unique=True)
    checked_on = models.DateField()
    against = models.CharField(max_length=120)

    class Meta:
        ordering = ["table"]
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.table} {self.checked_on}"


class StacksLoad(FileLoad):
    """One load of the stacks' curated files."""


class Edition(EditionRow):
    """Moves with every change of this room's tables, and of the sources they name."""

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_edition")]
