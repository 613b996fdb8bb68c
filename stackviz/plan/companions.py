"""The packages that are compiled for one torch, as the tables know them: torchvision and torchaudio. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.rules import Tables
from stackviz.rules.checks.companions import COMPANIONS, fits
from stackviz.rules.compatibility import Requirement, computed_once
from stackviz.rules.versions import numbers, same_line

__all__ = ["Companion", "companions", "install_command"]

INDEX = "https://download.pytorch.org/whl/"


@dataclass(frozen=True, slots=True)
class Companion:
    """The newest release of a package that goes with a torch. `row`: what says so; None where no source names one.

    `built_for`: the CUDA releases it was published for, where it goes with later torches too; else those of its torch.
    """

    package: str
    row: Requirement | None
    built_for: frozenset[str] | None = None

    @property
    def version(self) -> str:
        return self.row.version if self.row else ""

    def is_published_for(self, build: str) -> bool:
        """Whether the index of a build ("cu126") has it: a release that outlives its torch stays as it was built.

        No table has for which ROCm or XPU it was built, so it is not named there.
        """
        return self.built_for is None or build in ("", "cpu") or build.removeprefix("cu") in self.built_for


@computed_once
def companions(tables: Tables, torch: str) -> tuple[Companion, ...]:
    """Each package, with the release for this torch or without one."""
    rows = {
        package: [row for row in tables.rows(package, "needs", "pytorch") if fits(row, torch)] for package in COMPANIONS
    }
    return tuple(_companion(tables, package, fitting, torch) for package, fitting in rows.items())


def _companion(tables: Tables, package: str, fitting: Sequence[Requirement], torch: str) -> Companion:
    row = fitting[-1] if fitting else None
    if row is None or not row.low or numbers(torch)[:2] == numbers(row.low)[:2]:
        return Companion(package, row)
    offers = [each for each in tables.rows("pytorch", "offers", "cuda-runtime") if same_line(each.version, row.low)]
    cuda = " ".join(each.values for each in offers[:1]).split()
    return Companion(package, row, frozenset(version.replace(".", "") for version in cuda) or None)


def install_command(torch: str, with_it: Sequence[Companion], build: str = "") -> str:
    """What pip takes: torch with the packages that have a release for it. `build` "cu126"; "" for pip's own choice."""
    packages = [f"torch=={torch}", *(f"{each.package}=={each.version}" for each in with_it if _is_named(each, build))]
    return f"pip install {' '.join(packages)}" + (f" --index-url {INDEX}{build}" if build else "")


def _is_named(companion: Companion, build: str) -> bool:
    return companion.row is not None and companion.is_published_for(build)
