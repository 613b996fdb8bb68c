"""All that a machine's page shows, put together from the rooms below with a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from stackviz.benchmarks.queries import latest_results
from stackviz.diagrams.boxes import Column
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.labs.models import Finding, Machine, Report, Snapshot
from stackviz.labs.queries import MachineDetail
from stackviz.machines.cards import CardFact, CardRow, card_facts, card_rows
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
class HeadFact:
    """One of the facts at the top: its title, the fact, and a line under it, or ""."""

    title: str
    fact: ShownFact
    more: str = ""


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
    headline: Sequence[HeadFact]
    card_kinds: tuple[CardKind, ...]
    findings: Sequence[Finding]
    drawing: Drawing | None
    cards: Sequence[CardRow]
    card_facts: Sequence[CardFact]
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
            (
                "headline",
                "card_kinds",
                "findings",
                "cards",
                "card_facts",
                "groups",
                "software",
                "facts",
                "missing",
                "probes",
            ),
            (),
        )
        return MachinePage(**shared, **nothing, drawing=None)
    return MachinePage(
        **shared,
        headline=_headline(snapshot.facts, snapshot.absent),
        card_kinds=card_kinds(detail.cards),
        findings=sorted(detail.findings, key=lambda finding: SEVERITIES.index(Finding.Severity(finding.severity))),
        drawing=draw_columns([_column(detail, snapshot)]),
        cards=card_rows(detail.cards),
        card_facts=card_facts(detail.cards),
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


def _headline(facts: Mapping[str, Any], absent: Mapping[str, Any]) -> list[HeadFact]:
    """The facts people ask for first, those of the machine's own platform included."""

    def shown(title: str, name: str, more: str = "") -> HeadFact:
        return HeadFact(title, one_fact(name, facts, absent), more)

    system = with_version(one_fact("os.name", facts, absent), facts.get("os.version"))
    head = [
        shown(_("CPU"), "cpu.model", _cores(facts)),
        shown(_("Memory"), "memory.total_bytes"),
        HeadFact(_("System"), system, fact_text("os.kernel", facts.get("os.kernel"))),
        shown(_("Python"), "python.version", fact_text("python.implementation", facts.get("python.implementation"))),
        shown(_("PyTorch"), "torch.version"),
    ]
    if "nvidia.driver_version" in facts:
        served = facts.get("cuda.driver_api_version")
        more = _("serves CUDA up to %(version)s") % {"version": served} if served else ""
        head.append(shown(_("NVIDIA driver"), "nvidia.driver_version", more))
        head.append(shown(_("CUDA runtime"), "cuda.runtime_version"))
    if "apple.chip" in facts:
        head.append(shown(_("Memory the GPU may use"), "memory.gpu_limit_bytes"))
        head.append(HeadFact(_("mps device"), _mps(facts, absent)))
    return head


def _cores(facts: Mapping[str, Any]) -> str:
    physical, logical = facts.get("cpu.cores_physical"), facts.get("cpu.cores_logical")
    cores = _("%(n)s cores") % {"n": physical} if physical else ""
    threads = _("%(n)s threads") % {"n": logical} if logical and logical != physical else ""
    return ", ".join(filter(None, (cores, threads)))


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
