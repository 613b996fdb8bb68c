"""How the driver of a plan is installed: a command for each distribution, or where Windows gets it. No queries."""

from dataclasses import dataclass
from datetime import datetime

from stackviz.pages.plan.planned_machine import PlannedMachine, bare_report
from stackviz.report.rules import Tables
from stackviz.report.rules.checks.branches import DOWNLOADS, ubuntu_packages
from stackviz.report.rules.checks.places import may_have_nvswitch, needs_open_modules, takes_open_modules
from stackviz.report.rules.compatibility import RuleSource
from stackviz.report.rules.drivers import driver_branch
from stackviz.report.rules.look import Look
from stackviz.report.rules.versions import is_below

__all__ = ["DriverInstall", "driver_install"]

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
