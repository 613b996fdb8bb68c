"""Public hosts, their cards and what is installed on them."""

from collections.abc import Collection, Mapping
from datetime import date

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.curated.rows import Curated, EditionRow, FileLoad, history_records, is_slug, is_web_address
from stackviz.web.http.addresses import address_by_name


class Host(Curated):
    """A machine that its owner described in public, as it was on the day `seen_on`.

    Nothing is guessed: an empty text and None mean that the source does not say. `is_month_only`: the source names the
    month, and `seen_on` is its first day. `teaches`: what goes wrong on it or which setting matters, in our own words.
    Only public hosts are shown; `reason` says why another was withdrawn.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", _("proposed")
        PUBLIC = "public", _("public")
        WITHDRAWN = "withdrawn", _("withdrawn")

    class Form(models.TextChoices):
        DESKTOP = "desktop", _("desktop")
        LAPTOP = "laptop", _("laptop")
        MINI = "mini", _("mini computer or board")
        SERVER = "server", _("server")
        CLOUD = "cloud", _("cloud instance")

    class Virtualisation(models.TextChoices):
        BARE = "bare", _("none")
        WSL2 = "wsl2", "WSL2"
        CONTAINER = "container", _("container")
        VM = "vm", _("virtual machine")

    class SourceKind(models.TextChoices):
        REPOSITORY = "repository", _("public repository")
        ISSUE = "issue", _("public issue")
        POST = "post", _("public post")

    slug = models.CharField(max_length=80, unique=True, validators=[is_slug])
    title = models.CharField(max_length=120)
    vendor = models.ForeignKey(Vendor, models.PROTECT, related_name="hosts", help_text=_("of its first accelerator"))
    form = models.CharField(max_length=8, choices=Form.choices, blank=True)
    system = models.CharField(
        max_length=80, blank=True, help_text=_("operating system with its release, as far as the source says")
    )
    kernel = models.CharField(max_length=80, blank=True)
    cpu = models.CharField(max_length=120, blank=True)
    cpu_cores = models.PositiveIntegerField(null=True, blank=True, help_text=_("physical cores"))
    memory_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    virtualisation = models.CharField(max_length=9, choices=Virtualisation.choices, blank=True)
    seen_on = models.DateField(help_text=_("the day of the description"))
    is_month_only = models.BooleanField(default=False, help_text=_("the source names the month, not the day"))
    source_url = models.CharField(max_length=600, validators=[is_web_address], verbose_name=_("address"))
    source_kind = models.CharField(max_length=10, choices=SourceKind.choices)
    note = models.CharField(max_length=400, blank=True)
    teaches = models.CharField(
        max_length=400, blank=True, help_text=_("the fault or setting that others can learn from")
    )
    same_machine_as = models.CharField(
        max_length=80,
        blank=True,
        validators=[is_slug],
        help_text=_("slug of the host that is this machine on another day, where the source says so"),
    )
    state = models.CharField(max_length=9, choices=State.choices, default=State.PUBLIC)
    reason = models.CharField(max_length=200, blank=True, help_text=_("why it was withdrawn"))
    history = history_records()

    class Meta:
        ordering = ["title", "slug"]
        verbose_name = _("public host")
        verbose_name_plural = _("public hosts")
        indexes = [
            models.Index(fields=["state", "vendor"], name="host_state_vendor"),
            models.Index(fields=["state", "-seen_on"], name="host_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(source_url__startswith="https://") | Q(source_url__startswith="http://"),
                name="host_address_is_on_the_web",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "public", "withdrawn"]), name="host_state_is_known"
            ),
            models.CheckConstraint(condition=~Q(state="withdrawn") | ~Q(reason=""), name="host_withdrawn_has_a_reason"),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return address_by_name("machines:host", self.slug)

    def clean(self) -> None:
        if self.state == self.State.WITHDRAWN and not self.reason:
            raise ValidationError({"reason": _("Say why it was withdrawn.")})
        if self.seen_on and self.seen_on > date.today():  # noqa: DTZ011 - a day of the source, in no time zone
            raise ValidationError({"seen_on": _("This day is yet to come.")})
        others = dict(Host.objects.exclude(same_machine_as="").values_list("slug", "same_machine_as"))
        slugs = {self.slug, *Host.objects.values_list("slug", flat=True)}
        if problem := problem_of_same_machine(self.slug, others | {self.slug: self.same_machine_as}, slugs):
            raise ValidationError({"same_machine_as": problem})

    @property
    def subject(self) -> str:
        """What names it in a comparison."""
        return f"host:{self.slug}"

    def content(self) -> tuple[object, ...]:
        return (
            self.slug,
            self.title,
            self.vendor_id,
            str(self.form),
            self.system,
            self.kernel,
            self.cpu,
            self.cpu_cores,
            self.memory_bytes,
            str(self.virtualisation),
            str(self.seen_on),
            self.is_month_only,
            self.source_url,
            str(self.source_kind),
            self.note,
            self.teaches,
            str(self.state),
            self.reason,
            *filter(None, [self.same_machine_as]),  # without it rows have the digests of before there was this column
        )


def problem_of_same_machine(slug: str, same: Mapping[str, str], slugs: Collection[str]) -> str:
    """Return why the host cannot be the machine that `same` says it is; "" where it can, or nothing is said.

    `same`: slug -> slug of the host that is the same machine; `slugs`: of all hosts.
    """
    named = same.get(slug, "")
    if not named:
        return ""
    if named not in slugs:
        return gettext("unknown %(name)r: give the slug of a host") % {"name": named[:80]}
    seen = {slug}
    while named and named not in seen:
        seen.add(named)
        named = same.get(named, "")
    return gettext("leads back to this host: name the earlier one, and nothing there") if named == slug else ""


class HostCard(Curated):
    """One card of a host, or the accelerator of its chip. `accelerator` is None where the source leaves variants open.

    `power_limit_w`: the limit that is set; `pcie_generation`: the highest that the card reports in its slot;
    `pcie_lanes`: negotiated; `gpu_cores`: of an Apple chip. None and "" mean that the source does not say.
    """

    host = models.ForeignKey(Host, models.CASCADE, related_name="cards")
    index = models.PositiveSmallIntegerField()
    reported_name = models.CharField(max_length=120, help_text=_("as the source calls it"))
    accelerator = models.ForeignKey(Accelerator, models.SET_NULL, null=True, blank=True, related_name="host_cards")
    memory_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    driver_version = models.CharField(max_length=40, blank=True)
    power_limit_w = models.FloatField(null=True, blank=True, validators=[MinValueValidator(1)])
    pcie_generation = models.PositiveSmallIntegerField(null=True, blank=True)
    pcie_lanes = models.PositiveSmallIntegerField(null=True, blank=True)
    compute_capability = models.CharField(max_length=20, blank=True, help_text=_("or the gfx name of AMD"))
    gpu_cores = models.PositiveSmallIntegerField(null=True, blank=True)
    history = history_records()

    class Meta:
        ordering = ["host", "index"]
        verbose_name = _("card of a public host")
        verbose_name_plural = _("cards of public hosts")
        constraints = [
            models.UniqueConstraint(fields=["host", "index"], name="hostcard_index_once"),
            models.CheckConstraint(
                condition=Q(power_limit_w__isnull=True) | Q(power_limit_w__gt=0, power_limit_w__lt=100_000),
                name="hostcard_power_limit_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.reported_name

    def content(self) -> tuple[object, ...]:
        return (
            self.host_id,
            self.index,
            self.reported_name,
            self.accelerator_id,
            self.memory_bytes,
            self.driver_version,
            self.power_limit_w,
            self.pcie_generation,
            self.pcie_lanes,
            self.compute_capability,
            self.gpu_cores,
        )


class HostComponent(Curated):
    """One thing that the source says of a host's software: a component with its version, or a fact with its value.

    `name` is a component of `stackviz.report.format.components.COMPONENTS` or a fact of the report format
    (`torch.cuda_version`). `value` is "" where the component is there and its version is not said, or is absent.
    """

    class State(models.TextChoices):
        INSTALLED = "installed", _("installed")
        ABSENT = "absent", _("absent")
        UNKNOWN = "unknown", _("there, version not said")

    host = models.ForeignKey(Host, models.CASCADE, related_name="components")
    name = models.CharField(max_length=60)
    value = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=9, choices=State.choices, default=State.INSTALLED)
    history = history_records()

    class Meta:
        ordering = ["host", "name"]
        verbose_name = _("software of a public host")
        verbose_name_plural = _("software of public hosts")
        indexes = [models.Index(fields=["name", "value"], name="hostcomponent_name_value")]
        constraints = [
            models.UniqueConstraint(fields=["host", "name"], name="hostcomponent_name_once"),
            models.CheckConstraint(
                condition=Q(state="installed") & ~Q(value="") | Q(state__in=["absent", "unknown"], value=""),
                name="hostcomponent_value_where_installed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.value or self.state}"

    def content(self) -> tuple[object, ...]:
        return (self.host_id, self.name, self.value, str(self.state))


class HostLoad(FileLoad):
    """One load of the curated files of hosts."""


class HostEdition(EditionRow):
    """Moves when a host, a card or a component of one is added, saved or deleted."""

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_host_edition")]
