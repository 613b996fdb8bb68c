"""The packages that are compiled for one torch: which of them goes with it, and how all are installed in one command.

A torch that is replaced alone leaves them behind, and they no longer load.
"""

from collections.abc import Iterable, Sequence

from stackviz.report.rules.compatibility import Requirement, Tables
from stackviz.report.rules.look import Look
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

__all__ = [
    "COMPANIONS",
    "belonging_releases",
    "fits",
    "found_companions",
    "has_wheel",
    "installable_release",
    "line_specs",
    "torch_packages",
]

COMPANIONS = {"torchvision": "TorchVision", "torchaudio": "TorchAudio"}


def found_companions(look: Look) -> list[str]:
    """The companions that this machine has."""
    return [slug for slug in COMPANIONS if look.software(slug)]


def fits(row: Requirement, torch: str) -> bool:
    """Whether a release of a companion, by its row, goes with this torch."""
    if row.low and not row.values:
        return not is_below(torch, row.low)
    return any(_same_release(torch, release) for release in row.values.split())


def _same_release(version: str, other: str) -> bool:
    return numbers(version)[:3] == numbers(other)[: len(numbers(version)[:3])] or major_minor(version) == other


def belonging_releases(tables: Tables, slug: str, torch: str) -> list[Requirement]:
    """What says which releases of a companion go with this torch, newest first."""
    return [row for row in reversed(tables.rows(slug, "needs", "pytorch")) if fits(row, torch)]


def installable_release(
    tables: Tables, slug: str, torch: str, wheel: str, pythons: Iterable[str], build: str
) -> Requirement | None:
    """The newest that goes with this torch and has a wheel for the platform ("" for any) and all of these Pythons.

    `build`: the index of pytorch.org that has to have it, "cu126" or "cpu"; "" for pip's own.
    """
    for row in belonging_releases(tables, slug, torch):
        has_wheels = all(has_wheel(tables, row, wheel, python) for python in pythons)
        if has_wheels and _is_published_for(tables, row, torch, build):
            return row
    return None


def has_wheel(tables: Tables, release: Requirement, wheel: str, python: str) -> bool:
    """Whether a wheel for this Python is known; one that is built for all from some Python on has a `low`."""
    rows = tables.rows(release.component, "needs", "python", platform=wheel or None)
    of_release = [row for row in rows if row.version == release.version]
    return any(python in row.values.split() or (row.low and not is_below(python, row.low)) for row in of_release)


def _is_published_for(tables: Tables, release: Requirement, torch: str, build: str) -> bool:
    """Whether the index of a build ("cu126") has it: a release that outlives its torch stays as it was built.

    No table has for which ROCm or XPU it was built, so it is not named there.
    """
    published = [
        row for row in tables.rows(release.component, "offers", "cuda-runtime") if row.version == release.version
    ]
    if not build or not (published or release.low):
        return True
    if published:
        return build.removeprefix("cu") in _variants(published)
    if numbers(torch)[:2] == numbers(release.low)[:2] or build == "cpu":
        return True
    offers = [row for row in tables.rows("pytorch", "offers", "cuda-runtime") if same_line(row.version, release.low)]
    return not offers or build.removeprefix("cu") in _variants(offers[:1])


def _variants(rows: Sequence[Requirement]) -> set[str]:
    """ "12.6 13.0" -> 126, 130."""
    return {version.replace(".", "") for row in rows for version in row.values.split()}


def line_specs(look: Look, tables: Tables, line: str) -> list[str]:
    """The companions found, as pip takes them beside torch of a release line: 'torchvision==0.26.*'.

    Where the tables do not say which, the name alone: pip looks for one that takes the torch in the same command.
    """
    return [_line_spec(tables, slug, line) for slug in found_companions(look)]


def _line_spec(tables: Tables, slug: str, line: str) -> str:
    lines = {
        major_minor(row.version)
        for row in tables.rows(slug, "needs", "pytorch")
        if any(major_minor(release) == line for release in row.values.split())
    }
    return f"'{slug}=={lines.pop()}.*'" if len(lines) == 1 else slug


def torch_packages(look: Look) -> str:
    """torch and the companions found, by name."""
    return " ".join(["torch", *found_companions(look)])
