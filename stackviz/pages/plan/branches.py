"""Which branches of the NVIDIA driver serve the planned card and build. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stackviz.pages.plan.builds import Build, planned_report
from stackviz.pages.plan.planned_machine import PlannedMachine, bare_report
from stackviz.report.rules import Tables, is_broken
from stackviz.report.rules.compatibility import Release
from stackviz.report.rules.drivers import driver_branch, knows_card, serves
from stackviz.report.rules.lifecycle import LifeState, standing
from stackviz.report.rules.upgrade import with_driver

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
        may_serve = knows_card(tables, release.version, machine.capability, platform) and (
            build is None or serves(tables, driver, build.cuda, platform) is not False
        )
        serving = may_serve and not is_broken(with_driver(report, driver), tables)
        rows.append(Branch(release, driver, standing(release, today), serving))
    return [branch for branch in rows if branch.serves or branch.state in SUPPORTED]


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
