"""The packages that are compiled for one torch, as the tables know them: torchvision and torchaudio. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.rules import Tables
from stackviz.rules.checks.companions import COMPANIONS, fits
from stackviz.rules.compatibility import Requirement, computed_once

__all__ = ["Companion", "companions", "install_command"]

INDEX = "https://download.pytorch.org/whl/"


@dataclass(frozen=True, slots=True)
class Companion:
    """The newest release of a package that goes with a torch. `row`: what says so; None where no source names one."""

    package: str
    row: Requirement | None

    @property
    def version(self) -> str:
        return self.row.version if self.row else ""


@computed_once
def companions(tables: Tables, torch: str) -> tuple[Companion, ...]:
    """Each package, with the release for this torch or without one."""
    rows = {
        package: [row for row in tables.rows(package, "needs", "pytorch") if fits(row, torch)] for package in COMPANIONS
    }
    return tuple(Companion(package, fitting[-1] if fitting else None) for package, fitting in rows.items())


def install_command(torch: str, with_it: Sequence[Companion], build: str = "") -> str:
    """What pip takes: torch with the packages that have a release for it. `build` "cu126"; "" for pip's own choice."""
    packages = [f"torch=={torch}", *(f"{each.package}=={each.version}" for each in with_it if each.row)]
    return f"pip install {' '.join(packages)}" + (f" --index-url {INDEX}{build}" if build else "")
