"""A plan as its page shows it: what to install, what fits, what will not work, and the stack drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from stackviz.draw.diagrams.layers import State
from stackviz.draw.diagrams.stack import StackDrawing, draw_columns
from stackviz.intake.report_parts.cards import MatchedCard
from stackviz.intake.report_parts.present import (
    JudgedReport,
    SortedFindings,
    described_stacks,
    sort_findings,
    stack_column,
)
from stackviz.pages.plan.branches import Branch, DriverInstall, branches, choose_branch, driver_install
from stackviz.pages.plan.builds import (
    Build,
    PlanOutcome,
    builds,
    choose_build,
    command,
    companions_beside,
    judge_plan,
    newest_possible_release,
    newest_working_release,
    outcome_of,
    planned_report,
    pythons_beside,
)
from stackviz.pages.plan.planned_machine import PlannedMachine, feature_title, features
from stackviz.pages.plan.query import PlanQuery, with_release
from stackviz.pages.plan.releases import Companion, first_without_wheel, needed_macos, numpy_limit
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import accelerators_by_slug
from stackviz.records.stacks.lifecycle import LifeTable, life_table
from stackviz.records.stacks.reported import stack_slug
from stackviz.report import format as wire
from stackviz.report.format.systems import family
from stackviz.report.rules import Finding, Severity, Tables, is_broken
from stackviz.report.rules.add_ons import AddOn, add_ons
from stackviz.report.rules.compatibility import Requirement
from stackviz.report.rules.drivers import last_branch
from stackviz.report.rules.lifecycle import LifeState
from stackviz.report.rules.torch_cudas import default_wheels
from stackviz.report.rules.versions import numbers
from stackviz.web.i18n.finding_text import finding_words


@dataclass(frozen=True, slots=True)
class ReleaseLink:
    """A release of torch, and the address of the same plan with it."""

    torch: str
    url: str


@dataclass(frozen=True, slots=True)
class SkippedRelease:
    """The newest release of torch, which is not known to work here, and why."""

    link: ReleaseLink
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildRow:
    """A build, and why it does not run or why that is unknown; no `reasons` if it runs."""

    build: Build
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildChoice:
    """The builds of a release, and the one to install: None where no CUDA build is needed, or none runs."""

    offered: tuple[Build, ...]
    build: Build | None

    @property
    def shown(self) -> Build | None:
        """The build that is judged and drawn: where none runs, the newest, for what is broken with it."""
        return self.build or next(iter(self.offered), None)


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """The branches of the driver whose support goes on, the others that would serve, and the one that is drawn.

    `chosen` None: none serves, or the plan names a driver.
    """

    current: tuple[Branch, ...]
    ended: tuple[str, ...]
    chosen: Branch | None


@dataclass(frozen=True, slots=True)
class Generation:
    """What the card's generation has and lacks, in its vendor's words; without a `source` nothing is known of it."""

    has: tuple[str, ...]
    lacks: tuple[str, ...]
    source: Requirement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`query`: with the release that was chosen for it, where it left that open; `skipped`: the newer one, if any.

    `companions`: what goes with its torch, in the command where a source names the release; `add_ons`: what many add.
    `default_wheel`: what says which CUDA pip's own wheel has for the system; None where no source does.
    `no_wheel`: what says from which release on torch has no wheel for the system; `numpy`: as `numpy_limit`.
    `last_branch`: of the driver, for the card; "" where none ends. `macos_low`: for wheel and GPU; "" elsewhere.
    `alternative`: where this plan does not work, the newest release of torch that would.
    """

    query: PlanQuery
    skipped: SkippedRelease | None
    outcome: PlanOutcome
    alternative: ReleaseLink | None
    command: str
    companions: tuple[Companion, ...]
    add_ons: tuple[AddOn, ...]
    driver_install: DriverInstall | None
    build: Build | None
    builds: tuple[BuildRow, ...]
    default_wheel: Requirement | None
    branches: BranchChoice
    last_branch: str
    pythons: tuple[str, ...]
    no_wheel: Requirement | None
    numpy: Requirement | None
    macos_low: str
    findings: SortedFindings
    generation: Generation
    drawing: StackDrawing
    life: LifeTable
    sheet: Accelerator | None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not work or nobody knows; of a plan that works, why a newer release is not the one."""
        if self.outcome is PlanOutcome.WORKS:
            return self.skipped.reasons if self.skipped else ()
        severity = Severity.BROKEN if self.outcome is PlanOutcome.FAILS else Severity.CANNOT_TELL
        findings = (*self.findings.faults, *self.findings.open_questions)
        titles = (finding_words(finding.title) for finding in findings if finding.severity == severity)
        of_builds = (line for row in self.builds if self.build in (None, row.build) for line in row.reasons)
        return tuple(dict.fromkeys([*titles, *of_builds]))

    @property
    def driver_low(self) -> str:
        """The oldest driver that starts the build on the card; "" where the plan has none.

        Of its branch where the tables have no older one. Where the driver that is named starts none: of the newest
        build that runs on the card.
        """
        if not self.query.takes_driver:
            return ""
        running = (row.build for row in self.builds if row.build.outcome is PlanOutcome.WORKS)
        build = self.build or next(running, None)
        branch = self.branches.chosen
        return (build.driver_floor if build else "") or (branch.driver if branch else "")


def make_plan(query: PlanQuery, tables: Tables, day: datetime) -> Plan:
    """The plan as of `day`, aware. No query but those for the editions, in a process that has read both tables."""
    query, choice, skipped = _settle_release(query, tables, day)
    machine = query.machine
    drivers = _choose_branch(machine, choice, tables, day)
    planned = _with_driver(machine, choice, drivers)
    report, findings = judge_plan(planned, choice.shown, tables, day)
    outcome = outcome_of(planned, choice.build, findings)
    sheet = accelerators_by_slug([query.accelerator]).get(query.accelerator) if machine.card else None
    return Plan(
        query=query,
        skipped=skipped,
        outcome=outcome,
        alternative=None if outcome is PlanOutcome.WORKS else _alternative(query, tables, day),
        command=command(machine, choice.shown, tables),
        companions=companions_beside(machine, choice.shown, tables),
        add_ons=_add_ons(machine, tables),
        driver_install=driver_install(planned, planned.driver, tables, day),
        build=choice.build,
        builds=tuple(BuildRow(build, tuple(_reasons(build, machine))) for build in choice.offered),
        default_wheel=default_wheels(tables, machine.torch).get(machine.system.wheel),
        branches=drivers,
        last_branch=last_branch(tables, machine.capability),
        pythons=pythons_beside(machine, choice.shown, tables),
        no_wheel=first_without_wheel(tables, machine.system.wheel),
        numpy=numpy_limit(tables, machine.torch),
        macos_low=max((row.low for row in needed_macos(machine, tables)), key=numbers, default=""),
        findings=sort_findings(findings),
        generation=_generation(machine, tables),
        drawing=_draw(report, sheet, findings),
        life=life_table(report),
        sheet=sheet,
    )


# --- the release, the build, the driver ---


def _settle_release(
    query: PlanQuery, tables: Tables, day: datetime
) -> tuple[PlanQuery, BuildChoice, SkippedRelease | None]:
    """With the newest release that is known to work, where none was asked for; the newest of all if none is."""
    choice = _choose_build(query.machine, tables, day)
    if not query.torch_is_open or _is_known_to_work(query.machine, choice, tables, day):
        return query, choice, None
    other = _alternative(query, tables, day) or _possible(query, choice, tables, day)
    if other is None or other.torch == query.machine.torch:
        return query, choice, None
    skipped = _skipped(query, choice, tables, day)
    query = with_release(query, other.torch, tables, day)
    return query, _choose_build(query.machine, tables, day), skipped


def _choose_build(machine: PlannedMachine, tables: Tables, day: datetime) -> BuildChoice:
    offered = builds(machine, tables, day)
    return BuildChoice(offered, choose_build(offered, machine, tables, day))


def _is_known_to_work(machine: PlannedMachine, choice: BuildChoice, tables: Tables, day: datetime) -> bool:
    if choice.build:  # which was chosen because nothing is broken with it
        return choice.build.outcome is PlanOutcome.WORKS
    return not machine.has_nvidia_card and not is_broken(planned_report(machine, None, tables, day), tables)


def _alternative(query: PlanQuery, tables: Tables, day: datetime) -> ReleaseLink | None:
    """The newest release that works with what was chosen, with any Python where none was."""
    machine = replace(query.machine, python="") if query.python_is_open else query.machine
    torch = newest_working_release(machine, tables, day)
    return ReleaseLink(torch, query.with_torch(torch)) if torch else None


def _possible(query: PlanQuery, choice: BuildChoice, tables: Tables, day: datetime) -> ReleaseLink | None:
    """Where no build of the newest release runs: the newest release that may, by the driver and the card."""
    if any(build.outcome is not PlanOutcome.FAILS for build in choice.offered):
        return None
    machine = replace(query.machine, python="") if query.python_is_open else query.machine
    torch = newest_possible_release(machine, tables, day)
    return ReleaseLink(torch, query.with_torch(torch)) if torch else None


def _skipped(query: PlanQuery, choice: BuildChoice, tables: Tables, day: datetime) -> SkippedRelease:
    """Why the newest release is passed over: what is broken with a build that may run, and why the builds do not."""
    machine = query.machine
    may_run = (build for build in choice.offered if build.outcome is not PlanOutcome.FAILS)
    build = choice.build or next(may_run, None)
    broken: list[str] = []
    if build or not choice.offered:
        _report, findings = judge_plan(machine, build, tables, day)
        broken = [finding_words(finding.title) for finding in findings if finding.severity == Severity.BROKEN]
    reasons = dict.fromkeys([*broken, *(line for offered in choice.offered for line in _reasons(offered, machine))])
    return SkippedRelease(ReleaseLink(machine.torch, query.with_torch(machine.torch)), tuple(reasons))


def _choose_branch(machine: PlannedMachine, choice: BuildChoice, tables: Tables, day: datetime) -> BranchChoice:
    """The branches for the build; where only the driver that is named keeps all builds from running, for any driver."""
    build = choice.build or choose_build(choice.offered, replace(machine, driver=""), tables, day)
    serving = branches(machine, build, tables, day)
    return BranchChoice(
        current=tuple(branch for branch in serving if branch.state != LifeState.ENDED),
        ended=tuple(branch.release.version for branch in serving if branch.state == LifeState.ENDED and choice.build),
        chosen=None if machine.driver else choose_branch(serving),
    )


def _with_driver(machine: PlannedMachine, choice: BuildChoice, drivers: BranchChoice) -> PlannedMachine:
    """The machine with the driver that is drawn: the one that is named, else the chosen branch's for the build."""
    if machine.driver or choice.build is None or drivers.chosen is None:
        return machine
    return replace(machine, driver=drivers.chosen.driver)


# --- what the page says of them ---


def _reasons(build: Build, machine: PlannedMachine) -> Iterator[str]:
    """Why a build does not run on the card, or why that is unknown."""
    yield from (finding_words(finding.title) for finding in build.faults)
    if build.faults:
        return
    if not build.carries_code:
        words = {"build": build.name, "torch": machine.torch}
        yield _("No source says which GPUs torch %(torch)s (%(build)s) supports.") % words


def _add_ons(machine: PlannedMachine, tables: Tables) -> tuple[AddOn, ...]:
    """For CUDA under Linux, which the wheels on record are for."""
    if not machine.capability or not machine.system.wheel.startswith("linux"):
        return ()
    return add_ons(tables, machine.torch, machine.system.wheel, machine.capability)


def _generation(machine: PlannedMachine, tables: Tables) -> Generation:
    rows = features(machine, tables)
    return Generation(
        has=tuple(feature_title(row.subject) for row in rows if row.values == "yes"),
        lacks=tuple(feature_title(row.subject) for row in rows if row.values == "no"),
        source=rows[0] if rows else None,
    )


def _draw(report: wire.Report, sheet: Accelerator | None, findings: Sequence[Finding]) -> StackDrawing:
    """What is planned and nothing else: components that the plan does not name are left out of the drawing."""
    [described] = described_stacks([stack_slug(report.facts, (card.vendor for card in report.cards))])
    system = {"linux": "linux", "windows": "windows"}.get(family(report.facts), "")
    if system:
        report = replace(report, software=(*report.software, wire.Software(system, "", "planned")))
    judged = JudgedReport(report, tuple(findings), tuple(MatchedCard(card, sheet) for card in report.cards))
    column = stack_column(judged, described, key="plan", title=_("What is planned"), printed=True)
    boxes = tuple(box for box in column.boxes if box.state != State.UNKNOWN)
    return draw_columns([replace(column, boxes=boxes)])
