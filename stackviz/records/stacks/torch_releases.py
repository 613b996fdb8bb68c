"""What the tables know of torch's releases: their wheels and their Pythons. No queries."""

from stackviz.report.rules import Tables
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.versions import numbers

__all__ = ["pythons_of", "torch_releases"]


@computed_once
def torch_releases(tables: Tables, wheel: str) -> tuple[str, ...]:
    """Releases of torch with a wheel for this platform, newest first."""
    offered = {row.version: row.values for row in tables.rows("pytorch", "offers", "wheel") if row.platform == wheel}
    known = [row.version for row in tables.releases_of("pytorch")]
    return tuple(version for version in reversed(known) if offered.get(version) != "no")


@computed_once
def pythons_of(tables: Tables, torch: str, wheel: str) -> tuple[str, ...]:
    """Versions of Python with a wheel of a torch, else with one for Linux. Free-threaded builds are left out."""
    for platform in (wheel, "linux-x86_64"):
        for row in tables.rows("pytorch", "needs", "python", platform=platform):
            if numbers(row.version) == numbers(torch) and row.values:
                return tuple(version for version in row.values.split() if not version.endswith("t"))
    return ()
