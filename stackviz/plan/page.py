"""A plan as its page shows it: what to install, what fits, what will not work, and the stack drawn. Four queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from stackviz import wire
from stackviz.catalog.models import Accelerator
from stackviz.catalog.queries import accelerators_by_slug
from stackviz.diagrams.boxes import Column
from stackviz.diagrams.layers import State
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.plan import fit
from stackviz.plan.branches import Branch, branches, chosen_branch, decided
from stackviz.plan.builds import Answer, Build, builds, chosen_build, command
from stackviz.plan.features import feature_title
from stackviz.plan.planned_machine import Wanted
from stackviz.plan.query import PlanQuery, with_release
from stackviz.rules import Finding, Severity, Tables
from stackviz.rules.compatibility import Requirement
from stackviz.stacks.lifecycle import LifeTable, life_table
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column, stack_slug
from stackviz.wire.systems import family

_FAULTS = (Severity.BROKEN, Severity.WARNING, Severity.NOTE, Severity.CANNOT_TELL)


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
    answer: Answer
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
    drawing: Drawing
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
    found = branches(wanted, without_driver, tables, day)
    branch = None if wanted.driver else chosen_branch(found)
    with_driver = decided(wanted, branch if build else None)
    shown_build = build or (offered[0] if offered else None)
    report, answers = fit.judged(with_driver, shown_build, tables, day)
    features = fit.features(wanted, tables)
    sheet = accelerators_by_slug([query.accelerator]).get(query.accelerator) if wanted.card else None
    answer = fit.answer(with_driver, build, tables, day)
    instead = "" if answer is Answer.WORKS else fit.newest_that_works(_open_python(query), tables, day)
    return Plan(
        query=query,
        newer=newer,
        answer=answer,
        command=command(wanted, shown_build),
        build=build,
        builds=tuple(Offer(one, tuple(_why(one, wanted))) for one in offered),
        branch=branch,
        branches=tuple(one for one in found if one.state != "ended"),
        older_branches=tuple(one.release.version for one in found if one.state == "ended") if build else (),
        pythons=tuple(fit.pythons(wanted, tables)),
        macos=tuple(fit.needed_macos(wanted, tables)),
        findings=tuple(finding for finding in answers if finding.severity in _FAULTS),
        fits=tuple(finding for finding in answers if finding.severity == Severity.FITS),
        lacks=tuple(feature_title(row.subject) for row in features if row.values == "no"),
        has=tuple(feature_title(row.subject) for row in features if row.values == "yes"),
        feature_source=features[0] if features else None,
        drawing=draw_columns([_column(report, sheet, answers)]),
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
    if fit.answer(wanted, build, tables, day) is Answer.WORKS:
        return query, None
    other = fit.newest_that_works(_open_python(query), tables, day)
    if not other or other == wanted.torch:
        return query, None
    may_run = build or next((one for one in offered if one.answer is not Answer.FAILS), None)
    _report, answers = fit.judged(wanted, may_run, tables, day) if may_run or not offered else (None, [])
    broken = [finding.title for finding in answers if finding.severity == Severity.BROKEN]
    why = dict.fromkeys([*broken, *(line for one in offered for line in _why(one, wanted))])
    return with_release(query, other, tables, day), Newer(wanted.torch, query.with_torch(wanted.torch), tuple(why))


def _open_python(query: PlanQuery) -> Wanted:
    return replace(query.wanted, python="") if query.python_is_open else query.wanted


def _why(build: Build, wanted: Wanted) -> Iterator[str]:
    """Why a build does not run on the card, or why that cannot be told."""
    yield from (finding.title for finding in build.breaks)
    words = {"cuda": build.cuda, "build": build.name, "torch": wanted.torch}
    words["capability"] = wanted.card.compute_capability if wanted.card else ""
    if build.breaks:
        return
    if build.outside is not None and build.outside.relation == "needs":
        yield _(
            "CUDA %(cuda)s writes no code for capability %(capability)s: CUDA %(first)s is the first that does."
        ) % {
            **words,
            "first": build.outside.low,
        }
    elif build.outside is not None:
        yield _("CUDA %(cuda)s writes no code for capability %(capability)s: CUDA %(last)s was the last that did.") % {
            **words,
            "last": build.outside.values,
        }
    elif not build.carries_code:
        yield _("The tables do not say for which cards %(build)s of torch %(torch)s carries code.") % words


def _column(report: wire.Report, sheet: Accelerator | None, answers: Sequence[Finding]) -> Column:
    """What is planned and nothing else: a plan leaves open what it does not speak of."""
    slug = stack_slug(report.facts, (card.vendor for card in report.cards))
    described = described_columns([slug]).get(slug) or Column(key=slug, title="", subtitle="", url="", boxes=())
    sheets = [sheet for _card in report.cards]
    system = {"linux": "linux", "windows": "windows"}.get(family(report.facts), "")
    if system:
        report = replace(report, software=(*report.software, wire.Software(system, "", "planned")))
    title = _("What is planned")
    column = reported_column("plan", title, described.title, "", described, report, sheets, answers, printed=True)
    return replace(column, boxes=tuple(box for box in column.boxes if box.state != State.UNKNOWN))
