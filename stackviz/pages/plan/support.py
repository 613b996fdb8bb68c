"""Which frameworks run on which accelerators, as the reviewed files in `data/` say. Files only, no queries.

`groups.csv`: accelerators that the guides of frameworks treat alike, the most particular first. `support.csv`: what a
guide says of a group: how a framework is installed, or that it cannot be. `sources.csv`: the guides, with the day
each was read. docs/plan.md describes the columns.
"""

import csv
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from stackviz.report.rules import RuleSource
from stackviz.report.rules.versions import numbers

DATA = Path(__file__).parent / "data"
EVERY_SYSTEM = "*"
BY_TABLES = "tables"  # the outcome of a row whose release the tables of requirements decide


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """A public accelerator that software is planned for. `capability`: `8.9`, `gfx942`; "" where none is published."""

    slug: str
    name: str
    vendor: str
    capability: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportGroup:
    """Accelerators treated alike: of a vendor, by slug, by compute capability from `low` to below `high`, by target.

    `systems`: the only ones these accelerators run; none where any may.
    """

    key: str
    vendor: str
    slugs: tuple[str, ...]
    low: str
    high: str
    targets: tuple[str, ...]
    systems: tuple[str, ...]

    def holds(self, target: PlanTarget) -> bool:
        """Whether the accelerator is in it; one without a capability is in none that asks for it."""
        if self.vendor and self.vendor != target.vendor:
            return False
        if self.slugs and not any(fnmatchcase(target.slug, pattern) for pattern in self.slugs):
            return False
        if self.targets and target.capability not in self.targets:
            return False
        return self._is_between(target.capability)

    def _is_between(self, capability: str) -> bool:
        if not (self.low or self.high):
            return True
        version = numbers(capability)
        if not version:
            return False
        return (not self.low or version >= numbers(self.low)) and (not self.high or version < numbers(self.high))


@dataclass(frozen=True, slots=True)
class Guide:
    """A document that says how a framework is installed, and the day it was read, as an ISO date."""

    source: RuleSource
    read_on: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkSupport:
    """What a guide says of a framework on a group.

    `systems`: keys, or EVERY_SYSTEM; `outcome`: as of a plan, or BY_TABLES; `commands`: what to type.
    """

    framework: str
    group: str
    systems: tuple[str, ...]
    outcome: str
    installer: str
    commands: tuple[str, ...]
    needs: str
    pythons: tuple[str, ...]
    guide: Guide
    note: str


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@lru_cache(maxsize=1)
def guides() -> dict[str, Guide]:
    """The guides by key."""
    return {
        row["key"]: Guide(RuleSource(row["key"], row["title"], row["url"]), row["read_on"])
        for row in _rows("sources.csv")
    }


@lru_cache(maxsize=1)
def groups() -> tuple[SupportGroup, ...]:
    """All groups, the most particular first."""
    return tuple(
        SupportGroup(
            key=row["group"],
            vendor=row["vendor"],
            slugs=tuple(row["slugs"].split()),
            low=row["capability_from"],
            high=row["capability_below"],
            targets=tuple(row["targets"].split()),
            systems=tuple(row["systems"].split()),
        )
        for row in _rows("groups.csv")
    )


@lru_cache(maxsize=1)
def support_rows() -> tuple[FrameworkSupport, ...]:
    """All rows, in the order of the file."""
    return tuple(
        FrameworkSupport(
            framework=row["framework"],
            group=row["group"],
            systems=tuple(row["systems"].split()),
            outcome=row["outcome"],
            installer=row["installer"],
            commands=tuple(row["commands"].splitlines()),
            needs=row["needs"],
            pythons=tuple(row["python"].split()),
            guide=guides()[row["source"]],
            note=row["note"],
        )
        for row in _rows("support.csv")
    )


def may_run(target: PlanTarget, system: str) -> bool:
    """Whether the system is one that the accelerator may be under: a Jetson has its JetPack, GB10 an aarch64 Linux."""
    only = next((group.systems for group in groups() if group.systems and group.holds(target)), ())
    return not only or system in only


def deciding_rows(target: PlanTarget, framework: str) -> list[tuple[str, FrameworkSupport]]:
    """(system, row) for an accelerator: of each system those of the first group that speaks of it.

    A row for every system has the system "" and counts only where no group before it speaks of any.
    """
    decided: list[tuple[str, FrameworkSupport]] = []
    for group in groups():
        if not group.holds(target):
            continue
        rows = [row for row in support_rows() if (row.framework, row.group) == (framework, group.key)]
        taken = {system for system, _row in decided}
        decided += [
            (system, row)
            for row in rows
            for system in row.systems
            if system not in taken and system != EVERY_SYSTEM and may_run(target, system)
        ]
        whole = [row for row in rows if EVERY_SYSTEM in row.systems]
        if whole:
            return decided or [("", whole[0])]
    return decided
