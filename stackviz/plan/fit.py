"""What fits: a stack that nobody has reported, as the report its machine would send, put to the rules. No queries.

The rules that judge machines judge plans: which builds of torch run on the card, from which driver on, for which
Python; what would be broken. Nothing is said here that a table does not say.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from stackviz import wire
from stackviz.plan.builds import (
    Build,
    BuildAnswer,
    builds,
    chosen_build,
    is_broken,
    may_start,
    offered_by,
    planned_report,
)
from stackviz.plan.planned_machine import PlannedMachine, System, bare_report
from stackviz.rules import Finding, Severity, Tables, judge
from stackviz.rules.card_names import normalized
from stackviz.rules.checks.builds import builds_for
from stackviz.rules.compatibility import Requirement
from stackviz.rules.known_cards import KnownCard
from stackviz.rules.look import Look
from stackviz.rules.versions import is_below, major_minor, numbers
from stackviz.wire.systems import wheel_variant

WHERE_THE_CARD_IS = frozenset({"cpu-only-torch"})  # asks for a card that a plan for the CPU alone leaves out
MOST_TRIED = 10  # releases of torch that are put to the rules, the newest that driver, card and macOS allow first


def torch_versions(tables: Tables, system: System) -> list[str]:
    """Releases of torch with a wheel for this system, newest first."""
    offered = {
        row.version: row.values for row in tables.rows("pytorch", "offers", "wheel") if row.platform == system.wheel
    }
    known = [row.version for row in tables.releases_of("pytorch")]
    return [version for version in reversed(known) if offered.get(version) != "no"]


def pythons(wanted: PlannedMachine, tables: Tables) -> list[str]:
    """Versions of Python with a wheel of this torch; where this system's are not on record, those of Linux."""
    for platform in (wanted.system.wheel, "linux-x86_64"):
        for row in tables.rows("pytorch", "needs", "python", platform=platform):
            if numbers(row.version) == numbers(wanted.torch) and row.values:
                return [version for version in row.values.split() if not version.endswith("t")]
    return []


def needed_macos(wanted: PlannedMachine, tables: Tables) -> list[Requirement]:
    """What the wheel and its mps device ask of macOS; empty elsewhere."""
    if wanted.system.platform != "macos":
        return []
    rows = tables.rows("pytorch", "needs", "macos", platform=wanted.system.wheel)
    return [row for row in rows if numbers(row.version) == numbers(wanted.torch) and row.low]


def features(wanted: PlannedMachine, tables: Tables) -> list[Requirement]:
    """What the card's generation has and lacks (`values` "yes", "no"), as its maker's tables say."""
    if wanted.card is None or not wanted.card.compute_capability:
        return []
    rows = (row for row in tables.requirements if row.component == "compute-capability" and row.relation == "offers")
    own = [row for row in rows if row.version == wanted.card.compute_capability and row.values in ("yes", "no")]
    partitioned = any(_is_named(row.version, wanted.card) for row in tables.rows("mig", "needs", "nvidia-driver"))
    return sorted(
        (row for row in own if row.subject != "mig" or row.values == "no" or partitioned), key=lambda row: row.subject
    )


def _is_named(listed: str, card: KnownCard) -> bool:
    """Whether a maker's list of products names this one: `B200/GB200`, `GB300 (DGX Station)`."""
    words = set(normalized(card.reported_name).split()) | set(card.accelerator.split("-"))
    return any(set(normalized(name).split()) <= words for name in listed.partition("(")[0].split("/"))


def judged(
    wanted: PlannedMachine, build: Build | None, tables: Tables, day: datetime
) -> tuple[wire.Report, list[Finding]]:
    """The planned report and what the rules say of it. What cannot be told of a plan is left out: nothing ran yet.

    Except where the plan itself says too little: of a driver its branch alone.
    """
    report = planned_report(wanted, build, tables, day)
    answers = [
        found
        for found in judge(report, tables)
        if (found.severity != Severity.CANNOT_TELL or (wanted.driver and found.rule == "driver-too-old"))
        and found.rule not in WHERE_THE_CARD_IS
    ]
    software = [wire.Software(component, version, "planned") for component, version in _software(report, tables)]
    return replace(report, software=tuple(software)), answers


def _software(report: wire.Report, tables: Tables) -> Iterator[tuple[str, str]]:
    named = {
        "python": "python.version",
        "pytorch": "torch.version",
        "cuda-runtime": "torch.cuda_version",
        "cudnn": "cudnn.version",
        "nvidia-driver": "nvidia.driver_version",
    }
    for component, fact in named.items():
        if fact in report.facts:
            yield component, str(report.facts[fact])
    if (version := report.facts.get("os.version")) and Look(report, tables).platform == "macos":
        yield "macos", str(version)


def answer(wanted: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> BuildAnswer:
    """Whether a build runs where one is needed, and no rule objects."""
    needs_build = wanted.card is not None and wanted.card.vendor == "nvidia"
    if (build is None and needs_build) or is_broken(planned_report(wanted, build, tables, day), tables):
        return BuildAnswer.FAILS
    return build.answer if build else BuildAnswer.WORKS


def works(wanted: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> bool:
    """Whether it is known that the plan works."""
    return answer(wanted, build, tables, day) is BuildAnswer.WORKS


def newest_that_works(wanted: PlannedMachine, tables: Tables, day: datetime) -> str:
    """The newest release of torch that works with the rest of the plan; "" if none of those tried does."""
    for torch in _may_work(wanted, tables, day)[:MOST_TRIED]:
        other = replace(wanted, torch=torch)
        if works(other, chosen_build(builds(other, tables, day), other, tables, day), tables, day):
            return torch
    return ""


def _may_work(wanted: PlannedMachine, tables: Tables, day: datetime) -> list[str]:
    """Releases, newest first, whose rows allow driver and macOS, and of which it is known that they carry the card."""
    versions = torch_versions(tables, wanted.system)
    if wanted.system.platform == "macos":
        floors = {torch: needed_macos(replace(wanted, torch=torch), tables) for torch in versions}
        return [torch for torch in versions if not any(is_below(wanted.macos, row.low) for row in floors[torch])]
    if wanted.card is None or wanted.card.vendor != "nvidia":
        return versions
    look = Look(bare_report(wanted, day), tables)
    fitting = builds_for(look, tables, filter(None, [wanted.card.compute_capability]))
    carrying = {(build.torch, build.variant) for build in fitting}
    return [
        torch
        for torch in versions
        if any(
            (major_minor(torch), wheel_variant(cuda)) in carrying and may_start(wanted, cuda, tables)
            for cuda in offered_by(torch, tables)
        )
    ]
