"""What a planned torch asks of the system, what goes with it, and how it is installed."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.pages.plan.planned_machine import PlannedMachine
from stackviz.records.stacks.torch_releases import pythons_of, torch_releases
from stackviz.report.rules import Tables
from stackviz.report.rules.checks.companions import COMPANIONS, belonging_releases, installable_release
from stackviz.report.rules.compatibility import Requirement, computed_once
from stackviz.report.rules.versions import is_below, numbers


def pythons(machine: PlannedMachine, tables: Tables) -> tuple[str, ...]:
    """`pythons_of` the machine's torch and system."""
    return pythons_of(tables, machine.torch, machine.system.wheel)


def needed_macos(machine: PlannedMachine, tables: Tables) -> tuple[Requirement, ...]:
    """What the wheel and its mps device ask of macOS; empty elsewhere."""
    if machine.system.platform != "macos":
        return ()
    rows = tables.rows("pytorch", "needs", "macos", platform=machine.system.wheel)
    return tuple(row for row in rows if numbers(row.version) == numbers(machine.torch) and row.low)


def macos_lines(tables: Tables, wheel: str) -> list[str]:
    """Releases of macOS that the processor of these wheels runs, oldest first; empty for other systems."""
    ended = [row for row in tables.rows("macos", "offers", "system", platform=wheel) if row.values == "no"]
    lines = [row.version for row in tables.releases_of("macos")] if wheel.startswith("macos") else []
    return [line for line in lines if not ended or is_below(line, ended[0].version)]


def first_without_wheel(tables: Tables, wheel: str) -> Requirement | None:
    """What says that torch has no wheel for this platform any more, of the first such release; None while it has."""
    newest = next(iter(torch_releases(tables, wheel)), "")
    rows = (row for row in tables.rows("pytorch", "offers", "wheel") if (row.platform, row.values) == (wheel, "no"))
    return next((row for row in rows if is_below(newest, row.version)), None)


def numpy_limit(tables: Tables, torch: str) -> Requirement | None:
    """What says that this torch was built before NumPy 2, of the first torch for it; None for a torch that takes it."""
    row = next(iter(tables.rows("pytorch", "supports", "numpy")), None)
    return row if row and is_below(torch, row.version) else None


# Packages that are compiled for one torch: torchvision and torchaudio.


INDEX = "https://download.pytorch.org/whl/"


@dataclass(frozen=True, slots=True)
class Companion:
    """A package beside a torch. `row`: what says which release belongs to it; None where no source names one.

    `is_named`: the command takes this release: it has a wheel for the Python, in the index of the build.
    """

    package: str
    row: Requirement | None
    is_named: bool

    @property
    def version(self) -> str:
        return self.row.version if self.row else ""


@computed_once
def companions(
    tables: Tables, torch: str, wheel: str, pythons: tuple[str, ...] = (), build: str = ""
) -> tuple[Companion, ...]:
    """Each package with the newest release for this torch that pip finds for the platform and all of these Pythons.

    `build`: the index that is asked, "cu126" or "cpu"; "" for pip's own choice. Where no such release is known, the
    newest that belongs to the torch, and the command leaves it out.
    """
    return tuple(_companion(tables, package, torch, wheel, pythons, build) for package in COMPANIONS)


def _companion(tables: Tables, package: str, torch: str, wheel: str, pythons: Sequence[str], build: str) -> Companion:
    installable = installable_release(tables, package, torch, wheel, pythons, build)
    row = installable or next(iter(belonging_releases(tables, package, torch)), None)
    return Companion(package, row, is_named=installable is not None)


def install_command(tables: Tables, torch: str, with_it: Sequence[Companion], build: str = "") -> str:
    """What pip takes: torch with the packages that have a release for it. `build` "cu126"; "" for pip's own choice.

    With them comes the newest NumPy, unless the torch was built before it.
    """
    packages = [f"torch=={torch}", *(f"{each.package}=={each.version}" for each in with_it if each.is_named)]
    if limit := numpy_limit(tables, torch):
        packages.append(f'"numpy<{numbers(limit.low)[0]}"')
    return f"pip install {' '.join(packages)}" + (f" --index-url {INDEX}{build}" if build else "")
