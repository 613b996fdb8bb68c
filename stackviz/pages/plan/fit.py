"""What fits: a planned stack, as the report that its machine would send, checked by the rules. No queries.

The rules that judge machines judge plans: which builds of torch run on the card, from which driver on, for which
Python; what would be broken. Every answer comes from a table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from stackviz.pages.plan.builds import Build, PlanOutcome, is_known_to_run, may_start, planned_report
from stackviz.pages.plan.planned_machine import PlannedMachine
from stackviz.pages.plan.releases import cuda_versions, needed_macos, torch_releases
from stackviz.report import format as wire
from stackviz.report.format.systems import wheel_variant
from stackviz.report.rules import Finding, Severity, Tables, is_broken, judge
from stackviz.report.rules.checks.builds import builds_carrying
from stackviz.report.rules.versions import is_below, major_minor

RULES_FOR_MACHINES = frozenset({"cpu-only-torch"})  # it looks for a card, which a plan for the CPU alone leaves out
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

    One open question is the plan's own: of a driver only the branch is named.
    """
    report = planned_report(machine, build, tables, day)
    findings = [
        finding
        for finding in judge(report, tables)
        if (finding.severity != Severity.CANNOT_TELL or (machine.driver and finding.rule == "driver-too-old"))
        and finding.rule not in RULES_FOR_MACHINES
    ]
    return replace(report, software=tuple(_software(report))), findings


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


def _candidates(machine: PlannedMachine, tables: Tables) -> Iterator[tuple[str, list[str]]]:
    """Releases, newest first, that driver and macOS allow, with the CUDA versions of the builds that carry the card."""
    wheel = machine.system.wheel
    fitting = builds_carrying(tables, wheel, (machine.capability,)) if machine.has_nvidia_card else ()
    carrying = {(build.torch, build.variant) for build in fitting}
    for torch in torch_releases(tables, wheel):
        floors = needed_macos(replace(machine, torch=torch), tables)
        cudas = [
            cuda
            for cuda in cuda_versions(tables, torch)
            if (major_minor(torch), wheel_variant(cuda)) in carrying and may_start(machine, cuda, tables)
        ]
        if (cudas or not machine.has_nvidia_card) and not any(is_below(machine.macos, row.low) for row in floors):
            yield torch, cudas
