"""A plan as its page shows it: what to install, what fits, what will not work, and the stack drawn. Four queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from stackviz import wire
from stackviz.catalog.models import Accelerator
from stackviz.catalog.queries import accelerators_by_slug
from stackviz.diagrams.layers import State
from stackviz.diagrams.stack import StackDrawing, draw_columns
from stackviz.plan import fit
from stackviz.plan.branches import Branch, branches, chosen_branch, decided
from stackviz.plan.builds import Build, BuildAnswer, builds, chosen_build, command
from stackviz.plan.features import feature_title
from stackviz.plan.planned_machine import PlannedMachine
from stackviz.plan.query import PlanQuery, with_release
from stackviz.reports.cards import MatchedCard
from stackviz.reports.present import JudgedReport, PresentedReport, described_stacks, present, stack_column
from stackviz.rules import Finding, Severity, Tables
from stackviz.rules.compatibility import Requirement
from stackviz.stacks.lifecycle import LifeTable, life_table
from stackviz.stacks.reported import stack_slug
from stackviz.wire.systems import family


@dataclass(frozen=True, slots=True)
class Offer:
    """A build, and why it does not run or why nobody can tell; `why` is empty where it runs."""

    build: Build
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Newer:
    """The newest release of torch, which was passed over because it is not known to work here."""

    torch: str
    url: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`query`: with the release that was chosen for it, where it left that open; then `newer` is the one passed over.

    `build` None: no CUDA build is needed, or none runs: then `builds` says why. `branch`: the driver that is drawn.

    `lacks`, `has`: what the card's generation has not and has, in its maker's words. `instead`: the newest release
    of torch that would work, where this one does not, and the address of that plan; "" if none would.
    """

    query: PlanQuery
    newer: Newer | None
    answer: BuildAnswer
    command: str
    build: Build | None
    builds: tuple[Offer, ...]
    branch: Branch | None
    branches: tuple[Branch, ...]
    older_branches: tuple[str, ...]
    pythons: tuple[str, ...]
    macos: tuple[Requirement, ...]
    findings: tuple[Finding, ...]
    fits: tuple[Finding, ...]
    lacks: tuple[str, ...]
    has: tuple[str, ...]
    feature_source: Requirement | None
    drawing: StackDrawing
    life: LifeTable
    sheet: Accelerator | None
    instead: str
    instead_url: str


def plan_of(query: PlanQuery, tables: Tables, day: datetime) -> Plan:
    """As of `day`, aware."""
    query, newer = _settled(query, tables, day)
    wanted = query.wanted
    offered = builds(wanted, tables, day)
    build = chosen_build(offered, wanted, tables, day)
    without_driver = build or chosen_build(offered, replace(wanted, driver=""), tables, day)
    lines = branches(wanted, without_driver, tables, day)
    branch = None if wanted.driver else chosen_branch(lines)
    with_driver = decided(wanted, branch if build else None)
    shown_build = build or (offered[0] if offered else None)
    report, answers = fit.judged(with_driver, shown_build, tables, day)
    features = fit.features(wanted, tables)
    sheet = accelerators_by_slug([query.accelerator]).get(query.accelerator) if wanted.card else None
    answer = fit.answer(with_driver, build, tables, day)
    instead = "" if answer is BuildAnswer.WORKS else fit.newest_that_works(_open_python(query), tables, day)
    planned = _presented(report, sheet, answers)
    findings = planned.findings
    return Plan(
        query=query,
        newer=newer,
        answer=answer,
        command=command(wanted, shown_build),
        build=build,
        builds=tuple(Offer(offer, tuple(_why(offer, wanted))) for offer in offered),
        branch=branch,
        branches=tuple(other for other in lines if other.state != "ended"),
        older_branches=tuple(other.release.version for other in lines if other.state == "ended") if build else (),
        pythons=tuple(fit.pythons(wanted, tables)),
        macos=tuple(fit.needed_macos(wanted, tables)),
        findings=(*findings.faults, *findings.notes, *findings.open_questions),
        fits=findings.fits,
        lacks=tuple(feature_title(row.subject) for row in features if row.values == "no"),
        has=tuple(feature_title(row.subject) for row in features if row.values == "yes"),
        feature_source=features[0] if features else None,
        drawing=draw_columns([planned.column]),
        life=life_table(report),
        sheet=sheet,
        instead=instead,
        instead_url=query.with_torch(instead) if instead else "",
    )


def _settled(query: PlanQuery, tables: Tables, day: datetime) -> tuple[PlanQuery, Newer | None]:
    """With the newest release that is known to work, where none was asked for; the newest of all if none is."""
    if not query.torch_is_open:
        return query, None
    wanted = query.wanted
    offered = builds(wanted, tables, day)
    build = chosen_build(offered, wanted, tables, day)
    if fit.answer(wanted, build, tables, day) is BuildAnswer.WORKS:
        return query, None
    other = fit.newest_that_works(_open_python(query), tables, day)
    if not other or other == wanted.torch:
        return query, None
    may_run = build or next((one for one in offered if one.answer is not BuildAnswer.FAILS), None)
    _report, answers = fit.judged(wanted, may_run, tables, day) if may_run or not offered else (None, [])
    broken = [finding.title for finding in answers if finding.severity == Severity.BROKEN]
    why = dict.fromkeys([*broken, *(line for one in offered for line in _why(one, wanted))])
    return with_release(query, other, tables, day), Newer(wanted.torch, query.with_torch(wanted.torch), tuple(why))


def _open_python(query: PlanQuery) -> PlannedMachine:
    return replace(query.wanted, python="") if query.python_is_open else query.wanted


def _why(build: Build, wanted: PlannedMachine) -> Iterator[str]:
    """Why a build does not run on the card, or why that cannot be told."""
    yield from (finding.title for finding in build.breaks)
    words = {"cuda": build.cuda, "build": build.name, "torch": wanted.torch}
    words["capability"] = wanted.card.compute_capability if wanted.card else ""
    if build.breaks:
        return
    if build.outside is not None and build.outside.relation == "needs":
        yield _(
            "CUDA %(cuda)s does not support compute capability %(capability)s; "
            "CUDA %(first)s is the first release that does."
        ) % {
            **words,
            "first": build.outside.low,
        }
    elif build.outside is not None:
        yield _(
            "CUDA %(cuda)s does not support compute capability %(capability)s; "
            "CUDA %(last)s was the last release that did."
        ) % {
            **words,
            "last": build.outside.values,
        }
    elif not build.carries_code:
        yield _("No source says which GPUs torch %(torch)s (%(build)s) supports.") % words


def _presented(report: wire.Report, sheet: Accelerator | None, answers: Sequence[Finding]) -> PresentedReport:
    """What is planned and nothing else: the drawing leaves open what the plan does not name."""
    [described] = described_stacks([stack_slug(report.facts, (card.vendor for card in report.cards))])
    system = {"linux": "linux", "windows": "windows"}.get(family(report.facts), "")
    if system:
        report = replace(report, software=(*report.software, wire.Software(system, "", "planned")))
    judged = JudgedReport(report, tuple(answers), tuple(MatchedCard(card, sheet) for card in report.cards))
    column = stack_column(judged, described, key="plan", title=_("What is planned"), printed=True)
    boxes = tuple(box for box in column.boxes if box.state != State.UNKNOWN)
    return present(judged, replace(column, boxes=boxes), names={})
