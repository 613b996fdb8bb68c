"""Which branches of the NVIDIA driver serve the planned card and build. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stackviz.plan.builds import Build, is_broken, may_start, planned_report
from stackviz.plan.planned_machine import PlannedMachine, bare_report
from stackviz.rules import Tables
from stackviz.rules.compatibility import Release
from stackviz.rules.drivers import driver_branch, shipped_drivers
from stackviz.rules.known_cards import KnownCard
from stackviz.rules.lifecycle import LifeState, standing
from stackviz.rules.upgrade import with_driver
from stackviz.rules.versions import is_below

DEVELOPERS = "developer/evaluation"  # branches that were never meant to be lived with


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of the driver. `serves`: the card and the chosen build run with it, from `driver` on."""

    release: Release
    driver: str
    state: LifeState
    serves: bool


def branches(wanted: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> list[Branch]:
    """The driver's branches for this system, newest first; of those whose support has ended only what still serves.

    Without a build: which serve the card, whatever may run on it.
    """
    if wanted.card is None or wanted.card.vendor != "nvidia":
        return []
    platform = "windows" if wanted.system.platform == "windows" else "linux"
    today = day.date().isoformat()
    found = []
    for release in reversed(tables.releases_of("nvidia-driver", platform)):
        if release.line == DEVELOPERS:
            continue
        driver = _first_driver(tables, release, build, platform) if build else release.version
        serving = _knows(wanted.card, release.version, tables, platform)
        serving = serving and _serves(replace(wanted, driver=driver), build, tables, day)
        found.append(Branch(release, driver, standing(release, today), serving))
    return [branch for branch in found if branch.serves or branch.state in (LifeState.SUPPORTED, LifeState.ENDING)]


def _knows(card: KnownCard, branch: str, tables: Tables, platform: str) -> bool:
    """Whether a branch is neither older than the first CUDA for such a card nor newer than the last that takes it."""
    for row in tables.rows("compute-capability", "needs", "cuda-toolkit"):
        shipped = shipped_drivers(tables, row.low, platform) if row.version == card.compute_capability else []
        first = driver_branch(tables, shipped[0].values, platform) if shipped else None
        if first and is_below(branch, first):
            return False
    ends = tables.rows("compute-capability", "ends-with", "nvidia-driver")
    return not any(row.version == card.compute_capability and is_below(row.values, branch) for row in ends)


def _serves(wanted: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> bool:
    if build is None:
        return not is_broken(with_driver(bare_report(wanted, day), wanted.driver), tables)
    return may_start(wanted, build.cuda, tables) and not is_broken(planned_report(wanted, build, tables, day), tables)


def _first_driver(tables: Tables, release: Release, build: Build, platform: str) -> str:
    """The driver of a branch from which on the build has what it asks for; the branch itself where it asks for less."""
    asked = [driver for driver in (build.driver_full, build.driver_floor) if driver and "." in driver]
    own = (driver for driver in asked if driver_branch(tables, driver, platform) == release.version)
    return next(own, release.version)


def chosen_branch(found: Sequence[Branch]) -> Branch | None:
    """The newest that serves and is supported; else the newest that serves."""
    serving = [branch for branch in found if branch.serves]
    supported = [branch for branch in serving if branch.state in (LifeState.SUPPORTED, LifeState.ENDING)]
    return next(iter(supported or serving), None)


def decided(wanted: PlannedMachine, branch: Branch | None) -> PlannedMachine:
    """The plan with a driver: the one that was named, else this branch."""
    return replace(wanted, driver=branch.driver) if branch and not wanted.driver else wanted
