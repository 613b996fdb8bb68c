"""All that a machine's page shows, put together from the rooms below with a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.benchmarks.measurement import CardUsed
from stackviz.benchmarks.queries import latest_results
from stackviz.diagrams.boxes import Column
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.labs.models import Card, Finding, Machine, Report, Snapshot
from stackviz.labs.queries import MachineDetail
from stackviz.machines.facts import ShownFact, fact_text, missing_facts, one_fact, shown_facts
from stackviz.machines.results import ResultGroup, result_groups
from stackviz.machines.rows import CardKind, card_kinds, subject_of, with_version
from stackviz.stacks.models import Component
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column, stack_slug
from stackviz.web.paging import Page, page_as, page_of

REPORTS_PER_PAGE = 20
# A report is read within seconds; one that waits longer than this is no longer watched for.
WATCHED_FOR = timedelta(minutes=15)
SEVERITIES = (Finding.Severity.BROKEN, Finding.Severity.WARNING, Finding.Severity.CANNOT_TELL, Finding.Severity.NOTE)


@dataclass(frozen=True, slots=True)
class CardRow:
    """One card as it was reported. `sheet_url` empty: its name is in no public sheet, `sheet_name` then too."""

    index: int
    reported_name: str
    sheet_name: str
    sheet_url: str
    memory: ShownFact
    power: ShownFact
    is_capped: bool
    link: ShownFact
    kernels: ShownFact
    facts: Sequence[ShownFact]
    missing: Sequence[ShownFact]


@dataclass(frozen=True, slots=True)
class SoftwareRow:
    """One component found. `url` leads to its description, empty where there is none."""

    name: str
    version: str
    found_by: str
    url: str


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One upload in the history."""

    id: UUID
    url: str
    received_at: datetime
    status: str
    status_label: str
    warnings: int
    error: str


@dataclass(frozen=True, slots=True)
class MachinePage:
    """What the page shows. With no report read yet everything but `machine` and `reports` is empty."""

    machine: Machine
    subject: str
    snapshot: Snapshot | None
    headline: Sequence[tuple[str, ShownFact]]
    card_kinds: tuple[CardKind, ...]
    findings: Sequence[Finding]
    drawing: Drawing | None
    cards: Sequence[CardRow]
    groups: Sequence[ResultGroup]
    software: Sequence[SoftwareRow]
    facts: Sequence[ShownFact]
    missing: Sequence[ShownFact]
    probes: Sequence[Mapping[str, Any]]
    reports: Page[ReportRow]
    is_arriving: bool
    seen: str

    @property
    def title(self) -> str:
        return self.machine.name


def machine_page(detail: MachineDetail, reports_page: int = 1) -> MachinePage:
    """At most twelve queries after those of `detail`, however many reports and results are stored."""
    machine, snapshot = detail.machine, detail.snapshot
    reports = _reports(machine, reports_page)
    arriving = is_arriving(machine)
    shared: dict[str, Any] = {
        "machine": machine,
        "subject": subject_of(machine),
        "snapshot": snapshot,
        "reports": reports,
        "is_arriving": arriving,
        "seen": seen_token(machine),
    }
    if snapshot is None:
        nothing: dict[str, Any] = dict.fromkeys(
            ("headline", "card_kinds", "findings", "cards", "groups", "software", "facts", "missing", "probes"), ()
        )
        return MachinePage(**shared, **nothing, drawing=None)
    return MachinePage(
        **shared,
        headline=_headline(snapshot.facts, snapshot.absent),
        card_kinds=card_kinds(detail.cards),
        findings=sorted(detail.findings, key=lambda finding: SEVERITIES.index(Finding.Severity(finding.severity))),
        drawing=draw_columns([_column(detail, snapshot)]),
        cards=[_card(card) for card in detail.cards],
        groups=result_groups(latest_results([machine])[machine.pk]),
        software=_software(snapshot.software),
        facts=shown_facts(snapshot.facts),
        missing=missing_facts(snapshot.absent),
        probes=[probe for probe in snapshot.probes if probe.get("state") != "ok"],
    )


# --- what is asked again while the page is open ---


def is_arriving(machine: Machine) -> bool:
    """Whether a report of this machine came in a moment ago and is not read yet. One query."""
    since = timezone.now() - WATCHED_FOR
    waiting = machine.reports.filter(status=Report.Status.RECEIVED, received_at__gte=since)
    return waiting.exists()


def seen_token(machine: Machine) -> str:
    """Names the state a page shows: it changes when a report arrives, is read, or fails. One query."""
    newest = machine.reports.order_by("-received_at").values_list("pk", "status").first()
    report, status = newest or ("", "")
    return f"{report}.{status}.{machine.latest_snapshot_id or ''}"


# --- parts ---


def _headline(facts: Mapping[str, Any], absent: Mapping[str, Any]) -> list[tuple[str, ShownFact]]:
    """(what, fact): the facts people ask for first, those of the machine's own platform included."""
    system = with_version(one_fact("os.name", facts, absent), facts.get("os.version"))
    shown = [
        (_("CPU"), one_fact("cpu.model", facts, absent)),
        (_("Memory"), one_fact("memory.total_bytes", facts, absent)),
        (_("System"), system),
        (_("Python"), one_fact("python.version", facts, absent)),
        (_("PyTorch"), one_fact("torch.version", facts, absent)),
    ]
    if "nvidia.driver_version" in facts:
        shown.append((_("NVIDIA driver"), one_fact("nvidia.driver_version", facts, absent)))
        shown.append((_("CUDA runtime"), one_fact("cuda.runtime_version", facts, absent)))
    if "apple.chip" in facts:
        shown.append((_("GPU may use"), one_fact("memory.gpu_limit_bytes", facts, absent)))
        shown.append((_("mps device"), _mps(facts, absent)))
    return shown


def _mps(facts: Mapping[str, Any], absent: Mapping[str, Any]) -> ShownFact:
    """Built in and usable are two things: macOS updates have broken the second."""
    built, available = facts.get("mps.built"), facts.get("mps.available")
    if built is None or available is None:
        return one_fact("mps.available", facts, absent)
    if available:
        return ShownFact("mps.available", _("usable"))
    return ShownFact("mps.available", _("built in, not usable") if built else _("not built in"))


def _column(detail: MachineDetail, snapshot: Snapshot) -> Column:
    machine, cards = detail.machine, detail.cards
    slug = stack_slug(snapshot.facts, (card.vendor for card in cards))
    url = machine.get_absolute_url()
    described = described_columns([slug]).get(slug) or Column(slug, "", "", "", ())
    subtitle = described.title
    return reported_column(
        subject_of(machine), machine.name, subtitle, url, described, snapshot, cards, detail.findings
    )


def _card(card: Card) -> CardRow:
    facts, absent = card.facts, card.absent
    sheet = card.accelerator if card.accelerator and card.accelerator.is_public else None
    memory = ShownFact("memory_bytes", fact_text("memory.total_bytes", card.memory_bytes))
    return CardRow(
        index=card.index,
        reported_name=card.reported_name,
        sheet_name=sheet.name if sheet else "",
        sheet_url=sheet.get_absolute_url() if sheet else "",
        memory=memory if memory.text else one_fact("memory_bytes", {}, absent),
        power=one_fact("power_limit_w", facts, absent),
        is_capped=CardUsed(card.index, card.reported_name, card.accelerator_id, facts).power_cap is not None,
        link=_link(facts, absent),
        kernels=_kernels(facts, absent),
        facts=shown_facts(facts),
        missing=missing_facts(absent),
    )


def _link(facts: Mapping[str, Any], absent: Mapping[str, Any]) -> ShownFact:
    """The bus at its best: the link in use drops when a card idles."""
    generation = facts.get("pcie_generation_max") or facts.get("pcie_generation")
    width = facts.get("pcie_width_max") or facts.get("pcie_width")
    if facts.get("unified_memory") is True:
        return ShownFact("pcie_generation", _("none: unified memory"))
    if generation and width:
        return ShownFact("pcie_generation", f"PCIe {generation} ×{width}")
    return one_fact("pcie_generation", facts, absent)


def _kernels(facts: Mapping[str, Any], absent: Mapping[str, Any]) -> ShownFact:
    """What tells which kernels fit: compute capability, or Apple's Metal family and GPU cores."""
    if capability := facts.get("compute_capability"):
        return ShownFact("compute_capability", str(capability))
    cores = facts.get("gpu_cores")
    known = [str(facts["metal_family"])] if facts.get("metal_family") else []
    known += [_("%(n)s GPU cores") % {"n": cores}] if cores else []
    return ShownFact("metal_family", " · ".join(known)) if known else one_fact("compute_capability", facts, absent)


def _software(software: Sequence[Mapping[str, Any]]) -> list[SoftwareRow]:
    """What was found, in the order it was found, described components linked. One query."""
    slugs = [str(item.get("component", "")) for item in software]
    described = dict(Component.objects.filter(slug__in=slugs).values_list("slug", "name"))
    return [
        SoftwareRow(
            name=described.get(slug, slug),
            version=str(item.get("version") or ""),
            found_by=str(item.get("found_by") or ""),
            url=reverse("stacks:component", args=[slug]) if slug in described else "",
        )
        for slug, item in zip(slugs, software, strict=True)
    ]


def _reports(machine: Machine, number: int) -> Page[ReportRow]:
    """The machine's uploads, newest first. One query; what was sent stays in the database."""
    rows = machine.reports.order_by("-received_at").values_list("pk", "received_at", "status", "warnings", "error")
    return page_as(page_of(rows, number, REPORTS_PER_PAGE), _report)


def _report(row: tuple[UUID, datetime, str, Sequence[Any], str]) -> ReportRow:
    report_id, received_at, status, warnings, error = row
    return ReportRow(
        id=report_id,
        url=reverse("ingest:receipt", args=[report_id]),
        received_at=received_at,
        status=status,
        status_label=str(Report.Status(status).label),
        warnings=len(warnings),
        error=error,
    )
