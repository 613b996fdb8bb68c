"""Which builds of torch run on the planned card: one that the tables are silent about is not known to. No queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import islice

from stackviz.pages.plan.planned_machine import PlannedMachine, bare_report
from stackviz.pages.plan.releases import Companion, companions, install_command, needed_macos, pythons
from stackviz.records.stacks.torch_releases import torch_releases
from stackviz.report import format as wire
from stackviz.report.format import Scalar
from stackviz.report.format.systems import wheel_variant
from stackviz.report.rules import Finding, Severity, Tables, is_broken, judge, judge_breaking
from stackviz.report.rules.checks.builds import builds_carrying
from stackviz.report.rules.checks.companions import has_wheel
from stackviz.report.rules.drivers import (
    cuda_without_card,
    first_branch,
    knows_card,
    needed_driver,
    serves,
    shipped_drivers,
)
from stackviz.report.rules.torch_cudas import default_cuda, published_cudas
from stackviz.report.rules.upgrade import with_driver, with_torch
from stackviz.report.rules.versions import is_below, major_minor, numbers

BEYOND = "driver-dropped-card"  # the rule that cannot tell of a driver that is newer than the tables
KERNELS = "kernels-missing"  # the rule that says whether a build carries code for the card


class PlanOutcome(StrEnum):
    """Whether a build or a plan works; what no table speaks of is unknown."""

    WORKS = "works"
    FAILS = "fails"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One build of this torch for this machine. `faults`: what would be broken with it, whatever the driver.

    `carries_code`: the tables name code in it that runs on the card.
    `driver_floor`: the oldest driver that starts it on this card; `driver_full`: the one of its toolkit, with which
    nothing is missing, if that knows the card; "" where the tables do not say. `is_default`: pip takes it by itself.
    """

    name: str
    cuda: str
    cudnn: str
    driver_floor: str
    driver_full: str
    is_default: bool
    faults: tuple[Finding, ...]
    command: str
    carries_code: bool

    @property
    def outcome(self) -> PlanOutcome:
        if self.faults:
            return PlanOutcome.FAILS
        return PlanOutcome.WORKS if self.carries_code else PlanOutcome.UNKNOWN


def builds(machine: PlannedMachine, tables: Tables, day: datetime) -> tuple[Build, ...]:
    """The CUDA builds of this torch, the newest CUDA first; none on a Mac or without an NVIDIA card."""
    if not machine.has_nvidia_card or machine.system.platform == "macos":
        return ()
    return tuple(_build(machine, tables, day, cuda) for cuda in published_cudas(tables, machine.torch))


def _build(machine: PlannedMachine, tables: Tables, day: datetime, cuda: str) -> Build:
    name, platform = wheel_variant(cuda), machine.system.platform
    report = _report_with_torch(machine, name, tables, day)
    findings = tuple(judge_breaking(report, tables))
    carries_code = any(_shows_code(finding) for finding in findings)
    needed, full = needed_driver(tables, cuda, machine.capability, platform), _full_driver(machine, tables, cuda)
    default = default_cuda(tables, machine.torch, machine.system.wheel)
    is_default = bool(default) and numbers(default)[:2] == numbers(cuda)[:2]
    return Build(
        name=name,
        cuda=cuda,
        cudnn=str(report.facts.get("cudnn.version", "")),
        driver_floor=needed.low if needed else "",
        driver_full=full,
        is_default=is_default,
        faults=tuple(finding for finding in findings if finding.severity == Severity.BROKEN),
        command=_command(machine, tables, "" if is_default else name),
        carries_code=carries_code,
    )


def _full_driver(machine: PlannedMachine, tables: Tables, cuda: str) -> str:
    """The driver of the CUDA's first toolkit; the first of the card's own, where that is newer."""
    platform = machine.system.platform
    shipped, first = shipped_drivers(tables, cuda, platform), first_branch(tables, machine.capability, platform)
    return max(shipped[0].values, first.low if first else "", key=numbers) if shipped else ""


def _shows_code(finding: Finding) -> bool:
    return finding.rule == KERNELS and finding.severity == Severity.FITS


def choose_build(offered: Sequence[Build], machine: PlannedMachine, tables: Tables, day: datetime) -> Build | None:
    """What pip installs by default, otherwise the newest that runs, with the driver if one is named; None if none does.

    A build of unknown contents comes after all whose code the tables name.
    """
    may_run = [build for build in offered if build.outcome is not PlanOutcome.FAILS]
    for build in sorted(may_run, key=lambda build: (not build.carries_code, not build.is_default)):
        if not may_start(machine, build.cuda, tables):
            continue
        if not machine.driver or not is_broken(planned_report(machine, build, tables, day), tables):
            return build
    return None


def is_known_to_run(machine: PlannedMachine, cuda: str, tables: Tables, day: datetime) -> bool:
    """Whether the build for this CUDA carries code for the card and nothing is broken, with the driver if one is named.

    The first broken thing ends the search, where `builds` finds all of them.
    """
    report, carries_code = _report_with_torch(machine, wheel_variant(cuda), tables, day), False
    if machine.driver and is_broken(with_driver(report, machine.driver), tables):
        return False
    for finding in judge_breaking(report, tables):
        if finding.severity == Severity.BROKEN:
            return False
        carries_code = carries_code or _shows_code(finding)
    return carries_code


def may_start(machine: PlannedMachine, cuda: str, tables: Tables) -> bool:
    """Whether the driver that is named may serve this CUDA and the card: a look into the tables, not all rules."""
    driver, platform = machine.driver, machine.system.platform
    return not driver or (
        serves(tables, driver, cuda, platform) is not False and knows_card(tables, driver, machine.capability, platform)
    )


def command(machine: PlannedMachine, build: Build | None, tables: Tables) -> str:
    """What to type: the build's own, else the plain one; without a card on Linux and Windows the CPU's."""
    return build.command if build else _command(machine, tables, _index(machine, build))


def companions_beside(machine: PlannedMachine, build: Build | None, tables: Tables) -> tuple[Companion, ...]:
    """What goes with the torch of the plan, in its command where a wheel is known."""
    return _companions(machine, tables, _index(machine, build))


def pythons_beside(machine: PlannedMachine, build: Build | None, tables: Tables) -> tuple[str, ...]:
    """The Pythons of the torch for which all that the command names has wheels."""
    named = [each.row for each in companions_beside(machine, build, tables) if each.is_named and each.row]
    wheel = machine.system.wheel
    return tuple(
        python for python in pythons(machine, tables) if all(has_wheel(tables, row, wheel, python) for row in named)
    )


def _index(machine: PlannedMachine, build: Build | None) -> str:
    """Of pytorch.org, from which the build comes; "" for pip's own."""
    if build is not None:
        return "" if build.is_default else build.name
    return "" if machine.system.platform == "macos" or machine.card is not None else "cpu"


def _companions(machine: PlannedMachine, tables: Tables, index: str) -> tuple[Companion, ...]:
    pythons = (machine.python,) if machine.python else ()
    return companions(tables, machine.torch, machine.system.wheel, pythons, index)


def _command(machine: PlannedMachine, tables: Tables, index: str) -> str:
    return install_command(tables, machine.torch, _companions(machine, tables, index), index)


def planned_report(machine: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> wire.Report:
    """The report of the machine with the build and, where one is named, the driver."""
    name = build.name if build else ("cpu" if machine.card is None and machine.system.platform != "macos" else "")
    report = _report_with_torch(machine, name, tables, day)
    return with_driver(report, machine.driver) if machine.driver else report


def _report_with_torch(machine: PlannedMachine, build: str, tables: Tables, day: datetime) -> wire.Report:
    return with_torch(bare_report(machine, day), tables, machine.torch, build)


# A planned stack as the report that its machine would send, judged by the rules.


RULES_FOR_MACHINES = frozenset({"cpu-only-torch"})  # it looks for a card, which a plan for the CPU alone leaves out
RULES_OF_DRIVERS = frozenset({"driver-too-old", BEYOND})
MOST_TRIED = 10  # releases of torch that are put to the rules, the newest that driver, card and macOS allow first
_COMPONENTS = {
    "python": "python.version",
    "pytorch": "torch.version",
    "cuda-runtime": "torch.cuda_version",
    "cudnn": "cudnn.version",
    "nvidia-driver": "nvidia.driver_version",
    "macos": "os.version",
}  # and the fact with their version


def judge_plan(
    machine: PlannedMachine, build: Build | None, tables: Tables, day: datetime
) -> tuple[wire.Report, list[Finding]]:
    """The planned report and what the rules find in it. What only a run could tell is left out: nothing ran yet.

    Open questions about a driver that is named are the plan's own: of it only the branch is named, or it is newer than
    all that the tables know.
    """
    report = planned_report(machine, build, tables, day)
    findings = [
        finding
        for finding in judge(report, tables)
        if (finding.severity != Severity.CANNOT_TELL or (machine.driver and finding.rule in RULES_OF_DRIVERS))
        and finding.rule not in RULES_FOR_MACHINES
    ]
    planned = replace(report, facts={**report.facts, **_python(machine)})
    return replace(planned, software=tuple(_software(planned))), findings


def _python(machine: PlannedMachine) -> dict[str, Scalar]:
    return {"python.version": machine.python} if machine.python else {}


def _software(report: wire.Report) -> Iterator[wire.Software]:
    for component, fact in _COMPONENTS.items():
        if fact in report.facts:
            yield wire.Software(component, str(report.facts[fact]), "planned")


def outcome_of(machine: PlannedMachine, build: Build | None, findings: Sequence[Finding]) -> PlanOutcome:
    """Whether a build runs where one is needed, and no rule finds anything broken with it."""
    if build is None and machine.has_nvidia_card:
        return PlanOutcome.FAILS
    if any(finding.severity == Severity.BROKEN for finding in findings):
        return PlanOutcome.FAILS
    if any(finding.rule == BEYOND and finding.severity == Severity.CANNOT_TELL for finding in findings):
        return PlanOutcome.UNKNOWN
    return build.outcome if build else PlanOutcome.WORKS


def newest_working_release(machine: PlannedMachine, tables: Tables, day: datetime) -> str:
    """The newest release of torch that is known to work with the rest of the plan; "" if none of those tried does."""
    for torch, cudas in islice(_candidates(machine, tables), MOST_TRIED):
        other = replace(machine, torch=torch)
        if machine.has_nvidia_card:
            works = any(is_known_to_run(other, cuda, tables, day) for cuda in cudas)
        else:
            works = not is_broken(planned_report(other, None, tables, day), tables)
        if works:
            return torch
    return ""


def newest_possible_release(machine: PlannedMachine, tables: Tables, day: datetime) -> str:
    """The newest release of torch with a build that nothing speaks against, though no source says that it runs; ""."""
    if not (machine.has_nvidia_card and machine.driver):
        return ""
    tried = 0
    for torch in torch_releases(tables, machine.system.wheel):
        starting = (cuda for cuda in published_cudas(tables, torch) if may_start(machine, cuda, tables))
        if all(cuda_without_card(tables, machine.capability, cuda) for cuda in starting):
            continue
        if any(build.outcome is not PlanOutcome.FAILS for build in builds(replace(machine, torch=torch), tables, day)):
            return torch
        tried += 1
        if tried == MOST_TRIED:
            break
    return ""


def _candidates(machine: PlannedMachine, tables: Tables) -> Iterator[tuple[str, list[str]]]:
    """Releases, newest first, that driver and macOS allow, with the CUDA versions of the builds that carry the card."""
    wheel = machine.system.wheel
    fitting = builds_carrying(tables, wheel, (machine.capability,)) if machine.has_nvidia_card else ()
    carrying = {(build.torch, build.variant) for build in fitting}
    for torch in torch_releases(tables, wheel):
        floors = needed_macos(replace(machine, torch=torch), tables)
        cudas = [
            cuda
            for cuda in published_cudas(tables, torch)
            if (major_minor(torch), wheel_variant(cuda)) in carrying and may_start(machine, cuda, tables)
        ]
        if (cudas or not machine.has_nvidia_card) and not any(is_below(machine.macos, row.low) for row in floors):
            yield torch, cudas
