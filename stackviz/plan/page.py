"""A plan as its page shows it: what to install, what fits, what will not work, and the stack drawn. Four queries."""

from collections.abc import Sequence
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
from stackviz.plan.asked import Asked
from stackviz.plan.fit import Branch, Build
from stackviz.rules import Finding, Severity, Tables
from stackviz.rules.compatibility import Requirement
from stackviz.stacks.life import LifeTable, life_table
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column, stack_slug

_FAULTS = (Severity.BROKEN, Severity.WARNING, Severity.NOTE, Severity.CANNOT_TELL)


@dataclass(frozen=True, slots=True)
class Plan:
    """`build` None: no CUDA build is needed, or none runs: then `builds` says why. `branch`: the driver that is drawn.

    `lacks`, `has`: what the card's generation has not and has, in its maker's words. `instead`: the newest release
    of torch that would work, where this one does not, and the address of that plan; "" if none would.
    """

    works: bool
    command: str
    build: Build | None
    builds: tuple[Build, ...]
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


def plan_of(asked: Asked, tables: Tables, day: datetime) -> Plan:
    """As of `day`, aware."""
    wanted = asked.wanted
    offered = fit.builds(wanted, tables, day)
    build = fit.chosen_build(offered, wanted, tables, day)
    found = fit.branches(wanted, build, tables, day)
    branch = None if wanted.driver else fit.chosen_branch(found)
    with_driver = fit.decided(wanted, branch)
    shown_build = build or (offered[0] if offered else None)
    report, answers = fit.judged(with_driver, shown_build, tables, day)
    features = fit.features(wanted, tables)
    sheet = accelerators_by_slug([asked.accelerator]).get(asked.accelerator) if wanted.card else None
    works = fit.works(with_driver, build, tables, day)
    instead = "" if works else fit.newest_that_works(wanted, tables, day)
    return Plan(
        works,
        fit.command(wanted, shown_build),
        build,
        tuple(offered),
        branch,
        tuple(one for one in found if one.state != "ended"),
        tuple(one.release.version for one in found if one.state == "ended"),
        tuple(fit.pythons(wanted, tables)),
        tuple(fit.needed_macos(wanted, tables)),
        tuple(finding for finding in answers if finding.severity in _FAULTS),
        tuple(finding for finding in answers if finding.severity == Severity.FITS),
        tuple(_words(row.subject) for row in features if row.values == "no"),
        tuple(_words(row.subject) for row in features if row.values == "yes"),
        features[0] if features else None,
        draw_columns([_column(report, sheet, answers)]),
        life_table(report),
        sheet,
        instead,
        asked.with_torch(instead) if instead else "",
    )


def _words(subject: str) -> str:
    """`tensor-core-bf16` -> tensor core bf16."""
    return subject.replace("-", " ")


def _column(report: wire.Report, sheet: Accelerator | None, answers: Sequence[Finding]) -> Column:
    """What is planned and nothing else: a plan leaves open what it does not speak of."""
    slug = stack_slug(report.facts, (card.vendor for card in report.cards))
    described = described_columns([slug]).get(slug) or Column(slug, "", "", "", ())
    sheets = [sheet for _card in report.cards]
    column = reported_column("plan", _("What is planned"), described.title, "", described, report, sheets, answers)
    return replace(column, boxes=tuple(box for box in column.boxes if box.state != State.UNKNOWN))
