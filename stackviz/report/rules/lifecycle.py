"""Until when what a report names is supported, and what came after it.

A release whose vendor publishes no end of support has none here; newer releases then show how old it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from stackviz.base.backports import StrEnum
from stackviz.report.format import Report
from stackviz.report.rules.compatibility import Release, RuleSource, Tables
from stackviz.report.rules.drivers import driver_branch
from stackviz.report.rules.look import Look
from stackviz.report.rules.versions import is_below, numbers, same_line

__all__ = ["Life", "LifeState", "lives", "newest_out", "standing"]

ENDS_SOON = timedelta(days=180)


class LifeState(StrEnum):
    """The support state of a release on a day."""

    SUPPORTED = "supported"
    ENDING = "ending"  # within ENDS_SOON
    ENDED = "ended"
    UNDATED = "undated"  # no end of support is published
    UNKNOWN = "unknown"  # the release is not in the tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One component of a machine. `version`: as reported; `line`: the release of the tables it belongs to, "" for none.

    Dates are as exact as their source, "" where it has none. `newest`: the newest release there is on that day, ""
    where this is it. `source` None: the release is not in the tables.
    """

    component: str
    version: str
    state: LifeState
    line: str = ""
    released: str = ""
    support_ends: str = ""
    newest: str = ""
    newest_released: str = ""
    source: RuleSource | None = None


def lives(report: Report, tables: Tables) -> tuple[Life, ...]:
    """The reported components with published dates: torch, CUDA, driver, Python, the system; in the order of the
    layers.
    """
    look = Look(report, tables)
    return tuple(_life(tables, look.day, *named) for named in _named(look))


def _named(look: Look) -> Iterator[tuple[str, str, str]]:
    """(component, version, variant) of what can be looked up."""
    for component, fact in (("python", "python.version"), ("pytorch", "torch.version")):
        if version := look.get(fact):
            yield component, version, ""
    if version := look.get("cuda.toolkit_version"):
        yield "cuda-toolkit", version, ""
    if version := look.get("nvidia.driver_version"):
        yield "nvidia-driver", version, "windows" if look.driver_platform == "windows" else "linux"
    yield from _system(look)


def _system(look: Look) -> Iterator[tuple[str, str, str]]:
    name, version = (look.get("os.name") or "").lower(), look.get("os.version")
    if not version:
        return
    if look.platform == "macos":
        yield "macos", version, ""
    elif name.startswith("ubuntu"):
        yield "linux", version, "ubuntu"


def _life(tables: Tables, day: str, component: str, version: str, variant: str) -> Life:
    release = _release_of(tables, component, version, variant)
    if release is None:
        return Life(component=component, version=version, state=LifeState.UNKNOWN)
    newest = newest_out(tables, component, variant, day) or release
    is_newest = not is_below(release.version, newest.version)
    return Life(
        component=component,
        version=version,
        state=standing(release, day),
        line=release.version,
        released=release.released,
        support_ends=release.support_ends,
        newest="" if is_newest else newest.version,
        newest_released="" if is_newest else newest.released,
        source=release.source,
    )


def _release_of(tables: Tables, component: str, version: str, variant: str) -> Release | None:
    """The release a version belongs to, or its line; of a driver its branch, which Windows numbers upwards.

    nvcc counts builds in the last place (13.0.88 is of 13.0): a toolkit without a release of its own is of its minor
    version's first.
    """
    if component == "nvidia-driver":
        branch = driver_branch(tables, version, variant)
        return next((row for row in tables.releases_of(component, variant) if row.version == branch), None)
    releases = tables.releases_of(component, variant)
    mine = [row for row in releases if same_line(version, row.version)]
    if not mine and component == "cuda-toolkit":
        return next((row for row in releases if numbers(row.version)[:2] == numbers(version)[:2]), None)
    return max(mine, key=lambda row: len(numbers(row.version)), default=None)


def newest_out(tables: Tables, component: str, variant: str, day: str) -> Release | None:
    """The newest release that is out on that day; one without a date counts as not out. None if there is none."""
    out = [row for row in tables.releases_of(component, variant) if row.released and row.released <= day]
    return out[-1] if out else None


def standing(release: Release, day: str) -> LifeState:
    """The support state of a release on a day such as 2026-11-20."""
    if not release.support_ends:
        return LifeState.UNDATED
    if release.last_day < day:
        return LifeState.ENDED
    soon = (date.fromisoformat(day) + ENDS_SOON).isoformat()
    return LifeState.ENDING if release.last_day <= soon else LifeState.SUPPORTED
