"""Which branches of the NVIDIA driver serve the planned card and build. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stackviz.plan.builds import Build, planned_report
from stackviz.plan.planned_machine import PlannedMachine, bare_report
from stackviz.rules import Tables, is_broken
from stackviz.rules.compatibility import Release, computed_once
from stackviz.rules.drivers import driver_branch, serves, shipped_drivers
from stackviz.rules.lifecycle import LifeState, standing
from stackviz.rules.upgrade import with_driver
from stackviz.rules.versions import is_below

DEVELOPERS = "developer/evaluation"  # branches that are not meant for production
SUPPORTED = (LifeState.SUPPORTED, LifeState.ENDING)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of the driver. `serves`: the card and the chosen build run with it, from `driver` on."""

    release: Release
    driver: str
    state: LifeState
    serves: bool


def branches(machine: PlannedMachine, build: Build | None, tables: Tables, day: datetime) -> list[Branch]:
    """The driver's branches for this system, newest first; of those whose support has ended only what still serves.

    Without a build: which serve the card, whatever may run on it.
    """
    if not machine.has_nvidia_card:
        return []
    platform = "windows" if machine.system.platform == "windows" else "linux"
    report = planned_report(replace(machine, driver=""), build, tables, day) if build else bare_report(machine, day)
    today = day.date().isoformat()
    rows = []
    for release in reversed(tables.releases_of("nvidia-driver", platform)):
        if release.line == DEVELOPERS:
            continue
        driver = _first_driver(tables, release, build, platform) if build else release.version
        may_serve = _takes_card(tables, machine.capability, release.version, platform) and (
            build is None or serves(tables, driver, build.cuda, platform) is not False
        )
        serving = may_serve and not is_broken(with_driver(report, driver), tables)
        rows.append(Branch(release, driver, standing(release, today), serving))
    return [branch for branch in rows if branch.serves or branch.state in SUPPORTED]


@computed_once
def _takes_card(tables: Tables, capability: str, branch: str, platform: str) -> bool:
    """Whether a branch is neither older than the first CUDA for such a card nor newer than the last that takes it."""
    for row in tables.rows("compute-capability", "needs", "cuda-toolkit"):
        shipped = shipped_drivers(tables, row.low, platform) if row.version == capability else ()
        first = driver_branch(tables, shipped[0].values, platform) if shipped else None
        if first and is_below(branch, first):
            return False
    ends = tables.rows("compute-capability", "ends-with", "nvidia-driver")
    return not any(row.version == capability and is_below(row.values, branch) for row in ends)


def _first_driver(tables: Tables, release: Release, build: Build, platform: str) -> str:
    """The driver of a branch from which on the build has what it asks for; the branch itself where it asks for less."""
    needed = [driver for driver in (build.driver_full, build.driver_floor) if driver and "." in driver]
    of_branch = (driver for driver in needed if driver_branch(tables, driver, platform) == release.version)
    return next(of_branch, release.version)


def choose_branch(offered: Sequence[Branch]) -> Branch | None:
    """The newest that serves and is supported; else the newest that serves."""
    serving = [branch for branch in offered if branch.serves]
    supported = [branch for branch in serving if branch.state in SUPPORTED]
    return next(iter(supported or serving), None)
