"""Which builds of torch run on the planned card: one that the tables do not speak of is no yes. No queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from stackviz import wire
from stackviz.plan.planned_machine import PlannedMachine, bare_report
from stackviz.rules import Finding, Severity, Tables, judge
from stackviz.rules.compatibility import Requirement
from stackviz.rules.drivers import driver_floor, serves, shipped_drivers
from stackviz.rules.upgrade import with_driver, with_torch
from stackviz.rules.versions import is_below, numbers
from stackviz.wire.systems import wheel_variant

INDEX = "https://download.pytorch.org/whl/"
KERNELS = "kernels-missing"  # the rule that says whether a build carries code for the card


class BuildAnswer(StrEnum):
    """What can be said of a build or a plan: silence of the tables is no yes."""

    WORKS = "works"
    FAILS = "fails"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One build of this torch for this machine. `breaks`: what would not work with it, whatever the driver.

    `carries_code`: the tables name code in it that runs on the card. `outside`: where they do not, the row by which
    its CUDA writes no code for such a card, not yet ("needs") or no longer ("ends-with").
    `driver_floor`: the oldest driver that starts it; `driver_full`: the one of its toolkit, with which nothing is
    missing; "" where the tables do not say. `is_default`: pip takes it without being told.
    """

    name: str
    cuda: str
    cudnn: str
    driver_floor: str
    driver_full: str
    is_default: bool
    breaks: tuple[Finding, ...]
    command: str
    carries_code: bool
    outside: Requirement | None

    @property
    def answer(self) -> BuildAnswer:
        if self.breaks or self.outside:
            return BuildAnswer.FAILS
        return BuildAnswer.WORKS if self.carries_code else BuildAnswer.UNKNOWN


def builds(wanted: PlannedMachine, tables: Tables, day: datetime) -> list[Build]:
    """The CUDA builds of this torch, the newest CUDA first; none on a Mac or without an NVIDIA card."""
    if wanted.card is None or wanted.card.vendor != "nvidia" or wanted.system.platform == "macos":
        return []
    default = next(iter(_of_torch(tables, wanted, "ships", "cuda-runtime")), "")
    offered = offered_by(wanted.torch, tables)
    return [_build(wanted, tables, day, cuda, default) for cuda in sorted(offered, key=numbers, reverse=True)]


def _build(wanted: PlannedMachine, tables: Tables, day: datetime, cuda: str, default: str) -> Build:
    name = wheel_variant(cuda)
    report = with_torch(bare_report(wanted, day), tables, wanted.torch, name)
    floor = driver_floor(tables, cuda, wanted.system.platform)
    shipped = shipped_drivers(tables, cuda, wanted.system.platform)
    is_default = bool(default) and numbers(default)[:2] == numbers(cuda)[:2]
    answers = judge(report, tables)
    carries_code = any(found.rule == KERNELS and found.severity == Severity.FITS for found in answers)
    capability = wanted.card.compute_capability if wanted.card else ""
    return Build(
        name=name,
        cuda=cuda,
        cudnn=str(report.facts.get("cudnn.version", "")),
        driver_floor=floor.low if floor else "",
        driver_full=shipped[0].values if shipped else "",
        is_default=is_default,
        breaks=tuple(found for found in answers if found.severity == Severity.BROKEN),
        command=_command(wanted.torch, "" if is_default else name),
        carries_code=carries_code,
        outside=None if carries_code else _outside(tables, capability, cuda),
    )


def _outside(tables: Tables, capability: str, cuda: str) -> Requirement | None:
    """The row by which this CUDA writes no code for such a card. Code for an older card of the same major runs too."""
    own = numbers(capability)
    family = [
        row
        for row in tables.rows("compute-capability", "needs", "cuda-toolkit")
        if row.low and numbers(row.version)[:1] == own[:1] and numbers(row.version) <= own
    ]
    first = min(family, key=lambda row: numbers(row.low), default=None)
    if first is not None and is_below(cuda, first.low):
        return first
    for row in tables.rows("compute-capability", "ends-with", "cuda-toolkit"):
        last = numbers(row.values)
        if row.version == capability and last and numbers(cuda)[: len(last)] > last:
            return row
    return None


def _of_torch(tables: Tables, wanted: PlannedMachine, relation: str, subject: str) -> Iterator[str]:
    """What the wheel pip takes by itself says of a subject, on this system."""
    for row in tables.rows("pytorch", relation, subject, platform=wanted.system.wheel):
        if numbers(row.version) == numbers(wanted.torch) and row.platform and not row.variant and row.values != "none":
            yield row.values


def _command(torch: str, build: str) -> str:
    return f"pip install torch=={torch}" + (f" --index-url {INDEX}{build}" if build else "")


def chosen_build(offered: Sequence[Build], wanted: PlannedMachine, tables: Tables, day: datetime) -> Build | None:
    """What pip takes by itself, else the newest that runs, with the driver if one is named; None if none does.

    One of which the tables do not say what it carries comes after all of which they do.
    """
    may_run = [build for build in offered if build.answer is not BuildAnswer.FAILS]
    for build in sorted(may_run, key=lambda build: (not build.carries_code, not build.is_default)):
        if not may_start(wanted, build.cuda, tables):
            continue
        if not wanted.driver or not is_broken(planned_report(wanted, build, tables, day), tables):
            return build
    return None


def may_start(wanted: PlannedMachine, cuda: str, tables: Tables) -> bool:
    """Whether the driver that is named may serve this CUDA: one look into the tables, where rules take many."""
    return not wanted.driver or serves(tables, wanted.driver, cuda, wanted.system.platform) is not False


def command(wanted: PlannedMachine, build: Build | None) -> str:
    """What to type: the build's own, else the plain one; without a card on Linux and Windows the CPU's."""
    if build is not None:
        return build.command
    is_plain = wanted.system.platform == "macos" or wanted.card is not None
    return _command(wanted.torch, "" if is_plain else "cpu")


def planned_report(wanted: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> wire.Report:
    """The machine with the build and, where one is named, the driver."""
    name = build.name if build else ("cpu" if wanted.card is None and wanted.system.platform != "macos" else "")
    report = with_torch(bare_report(wanted, day), tables, wanted.torch, name)
    return with_driver(report, wanted.driver) if wanted.driver else report


def offered_by(torch: str, tables: Tables) -> list[str]:
    """The CUDA versions this release of torch was published for."""
    rows = tables.rows("pytorch", "offers", "cuda-runtime")
    return [cuda for row in rows if numbers(row.version) == numbers(torch) for cuda in row.values.split()]


def is_broken(report: wire.Report, tables: Tables) -> bool:
    return any(found.severity == Severity.BROKEN for found in judge(report, tables))
