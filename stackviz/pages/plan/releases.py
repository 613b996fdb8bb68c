"""What the tables know of torch's releases: their wheels, the CUDA they are built for, what they ask of the system."""

from stackviz.pages.plan.planned_machine import PlannedMachine
from stackviz.report.rules import Requirement, Tables
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.versions import numbers


@computed_once
def torch_releases(tables: Tables, wheel: str) -> tuple[str, ...]:
    """Releases of torch with a wheel for this platform, newest first."""
    offered = {row.version: row.values for row in tables.rows("pytorch", "offers", "wheel") if row.platform == wheel}
    known = [row.version for row in tables.releases_of("pytorch")]
    return tuple(version for version in reversed(known) if offered.get(version) != "no")


@computed_once
def cuda_versions(tables: Tables, torch: str) -> tuple[str, ...]:
    """The CUDA versions this release of torch was published for, newest first."""
    rows = tables.rows("pytorch", "offers", "cuda-runtime")
    published = [cuda for row in rows if numbers(row.version) == numbers(torch) for cuda in row.values.split()]
    return tuple(sorted(published, key=numbers, reverse=True))


@computed_once
def pythons_of(tables: Tables, torch: str, wheel: str) -> tuple[str, ...]:
    """Versions of Python with a wheel of a torch, else with one for Linux. Free-threaded builds are left out."""
    for platform in (wheel, "linux-x86_64"):
        for row in tables.rows("pytorch", "needs", "python", platform=platform):
            if numbers(row.version) == numbers(torch) and row.values:
                return tuple(version for version in row.values.split() if not version.endswith("t"))
    return ()


def pythons(machine: PlannedMachine, tables: Tables) -> tuple[str, ...]:
    """The same of the machine's torch and system."""
    return pythons_of(tables, machine.torch, machine.system.wheel)


def needed_macos(machine: PlannedMachine, tables: Tables) -> tuple[Requirement, ...]:
    """What the wheel and its mps device ask of macOS; empty elsewhere."""
    if machine.system.platform != "macos":
        return ()
    rows = tables.rows("pytorch", "needs", "macos", platform=machine.system.wheel)
    return tuple(row for row in rows if numbers(row.version) == numbers(machine.torch) and row.low)
