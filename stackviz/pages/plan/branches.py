"""Which branches of the NVIDIA driver serve the planned card and build. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stackviz.pages.plan.builds import Build, planned_report
from stackviz.pages.plan.planned_machine import PlannedMachine, bare_report
from stackviz.report.rules import Tables, is_broken
from stackviz.report.rules.checks.branches import DOWNLOADS, ubuntu_packages
from stackviz.report.rules.checks.places import may_have_nvswitch, needs_open_modules, takes_open_modules
from stackviz.report.rules.compatibility import Release, RuleSource
from stackviz.report.rules.drivers import driver_branch, knows_card, serves
from stackviz.report.rules.lifecycle import LifeState, standing
from stackviz.report.rules.look import Look
from stackviz.report.rules.upgrade import with_driver
from stackviz.report.rules.versions import is_below

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


# How the driver is installed.


KERNEL_MODULES = RuleSource(
    "nvidia-driver-installation-kernel-modules",
    "NVIDIA Driver Installation Guide, Kernel Modules",
    "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html",
)
LOCKING = RuleSource(
    "nvidia-driver-installation-version-locking",
    "NVIDIA Driver Installation Guide, Version locking",
    "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/version-locking.html",
)
FIRST_SO_PACKAGED = "570"  # from this branch on NVIDIA's packages have these names


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverInstall:
    """How to install a driver of `branch`. `commands`: (distribution, what to type), none on Windows.

    `fabric`: what to install besides, where NVSwitch joins the cards; "" where it cannot. `is_in_windows`: the driver
    of WSL is that of Windows. `sources`: of the commands that take NVIDIA's own packages.
    """

    branch: str
    downloads: str
    is_on_windows: bool
    is_in_wsl: bool
    commands: tuple[tuple[str, str], ...] = ()
    fabric: str = ""
    sources: tuple[RuleSource, ...] = ()


def driver_install(machine: PlannedMachine, driver: str, tables: Tables, day: datetime) -> DriverInstall | None:
    """For the driver that is planned ("580.65.06", or its branch); None where a plan has none."""
    platform = machine.system.platform
    branch = driver_branch(tables, driver, platform) or "" if machine.has_nvidia_card and driver else ""
    if not branch or platform == "macos":
        return None
    if platform == "windows":
        is_in_wsl = machine.system.key == "wsl2"
        return DriverInstall(branch=branch, downloads=DOWNLOADS, is_on_windows=True, is_in_wsl=is_in_wsl)
    look = Look(bare_report(machine, day), tables)
    packaged = _of_nvidia(look, branch)
    return DriverInstall(
        branch=branch,
        downloads=DOWNLOADS,
        is_on_windows=False,
        is_in_wsl=False,
        commands=(("Ubuntu", f"sudo apt install {' '.join(ubuntu_packages(look, branch))}"), *packaged),
        fabric=f"nvidia-fabricmanager-{branch}" if may_have_nvswitch(look) else "",
        sources=(KERNEL_MODULES, LOCKING) if packaged else (),
    )


def _of_nvidia(look: Look, branch: str) -> tuple[tuple[str, str], ...]:
    """With the packages of NVIDIA's repository, held to the branch; () for one that was packaged otherwise.

    The open kernel modules from Turing on; Blackwell takes no others.
    """
    if is_below(branch, FIRST_SO_PACKAGED):
        return ()
    package = "nvidia-open" if takes_open_modules(look) or needs_open_modules(look) else "cuda-drivers"
    return (
        ("Debian", f"sudo apt install nvidia-driver-pinning-{branch} && sudo apt install {package}"),
        ("Fedora", f"sudo dnf versionlock add '*nvidia*{branch}*' && sudo dnf install {package}"),
    )
