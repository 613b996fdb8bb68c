"""NVIDIA drivers in the tables: the branch one belongs to, and which CUDA runs under it.

The check, the advice and the plan all use `serves` to decide whether a driver is enough.
"""

from dataclasses import replace

from stackviz.report.rules.compatibility import Requirement, Tables, computed_once, newest_up_to
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

__all__ = [
    "branch_beyond",
    "cuda_without_card",
    "driver_branch",
    "driver_floor",
    "end_of_card",
    "first_branch",
    "is_older_than_card",
    "knows_card",
    "last_branch",
    "needed_driver",
    "reaches",
    "serves",
    "shipped_drivers",
]

# On Windows a branch numbers its drivers a little upwards (R570 reaches 573, R610 is 610): never five or more.
WINDOWS_BRANCH_SPAN = 5


@computed_once
def driver_branch(tables: Tables, driver: str, platform: str) -> str | None:
    """The branch a driver belongs to ("535"); None if the tables know none that fits."""
    if not numbers(driver):
        return None
    major = numbers(driver)[0]
    span = WINDOWS_BRANCH_SPAN if platform == "windows" else 1
    known = [row.version for row in tables.releases_of("nvidia-driver", platform)]
    fitting = [branch for branch in known if 0 <= major - numbers(branch)[0] < span]
    return fitting[-1] if fitting else None


@computed_once
def branch_beyond(tables: Tables, driver: str, platform: str) -> str:
    """The newest branch on record, where a driver is of a newer one, of which nothing is known; "" for any other."""
    known = [row.version for row in tables.releases_of("nvidia-driver", platform)]
    span = WINDOWS_BRANCH_SPAN if platform == "windows" else 1
    is_newer = bool(known and numbers(driver)) and numbers(driver)[0] >= numbers(known[-1])[0] + span
    return known[-1] if is_newer else ""


@computed_once
def driver_floor(tables: Tables, cuda: str, platform: str) -> Requirement | None:
    """The oldest driver that runs programs of this CUDA version: of the major family from 11 on, else of the minor.

    A driver that came with the very version serves it too, even below the family's floor (CUDA 11.0 did so).
    """
    rows = tables.rows("cuda-runtime", "needs", "nvidia-driver", platform=platform)
    fitting = [row for row in rows if row.low and same_line(cuda, row.version)]
    if not fitting:
        return None
    exact = (row for row in shipped_drivers(tables, cuda, platform) if "." in row.values)  # not a bare branch
    shipped = [replace(row, low=row.values) for row in exact]
    return min((fitting[-1], *shipped), key=lambda row: numbers(row.low))


@computed_once
def shipped_drivers(tables: Tables, cuda: str, platform: str) -> tuple[Requirement, ...]:
    """The drivers that came with the toolkits of this CUDA major and minor version, oldest toolkit first."""
    rows = tables.rows("cuda-toolkit", "ships", "nvidia-driver", platform=platform)
    line = major_minor(cuda)
    return tuple(row for row in rows if same_line(row.version, line))


@computed_once
def first_branch(tables: Tables, capability: str, platform: str) -> Requirement | None:
    """The first branch that knows cards of this compute capability; None if the tables do not say.

    A capability that NVIDIA's matrix does not print has the branch of the nearest lower one of its major version: a
    driver before that knows nothing of the generation.
    """
    version = numbers(capability)
    rows = [
        row
        for row in tables.rows("compute-capability", "needs", "nvidia-driver", platform=platform)
        if numbers(row.version)[:1] == version[:1] and numbers(row.version) <= version
    ]
    return rows[-1] if rows else None


@computed_once
def end_of_card(tables: Tables, capability: str) -> Requirement | None:
    """The row that names the last branch for cards of this compute capability; None where none is known to be it."""
    rows = tables.rows("compute-capability", "ends-with", "nvidia-driver")
    return next((row for row in rows if row.version == capability), None)


def last_branch(tables: Tables, capability: str) -> str:
    """The last branch that supports cards of this compute capability; "" where none is known to be the last."""
    end = end_of_card(tables, capability)
    return end.values if end else ""


def is_older_than_card(tables: Tables, driver: str, capability: str, platform: str) -> bool:
    """Whether a driver is of a branch before the first that knows such a card."""
    first = first_branch(tables, capability, platform)
    return first is not None and is_below(driver, first.low)


def knows_card(tables: Tables, driver: str, capability: str, platform: str) -> bool:
    """Whether a driver is neither older than the first branch for such a card nor newer than the last."""
    last, branch = last_branch(tables, capability), driver_branch(tables, driver, platform) or driver
    return not is_older_than_card(tables, driver, capability, platform) and not (last and is_below(last, branch))


@computed_once
def needed_driver(tables: Tables, cuda: str, capability: str, platform: str) -> Requirement | None:
    """The oldest driver under which programs of this CUDA version run on such a card: it serves both.

    None if neither a floor nor a branch is published for the CUDA version.
    """
    floor = driver_floor(tables, cuda, platform) or _first_offering(tables, cuda, platform)
    first = first_branch(tables, capability, platform)
    if floor is None or first is None:
        return floor
    return max(floor, first, key=lambda row: numbers(row.low))


def _first_offering(tables: Tables, cuda: str, platform: str) -> Requirement | None:
    """The oldest branch that is published for this CUDA family."""
    rows = tables.rows("nvidia-driver", "offers", "cuda-runtime", platform=platform)
    fitting = [row for row in rows if row.values and numbers(row.values)[:1] >= numbers(cuda)[:1]]
    return replace(fitting[0], low=fitting[0].version) if fitting else None


def reaches(tables: Tables, driver: str, low: str, platform: str) -> bool | None:
    """Whether a driver is `low` or newer. Only the numbers it has are compared: "580" alone is a branch, any of it.

    None where the rest of its number would decide.
    """
    version, floor = numbers(driver), numbers(low)
    if len(version) < len(floor) and floor[: len(version)] == version:
        return None
    if len(version) == 1 and len(floor) > 1 and driver_branch(tables, low, platform) == str(version[0]):
        return None  # on Windows 527.41 is of R525
    return not is_below(driver, low)


@computed_once
def serves(tables: Tables, driver: str, cuda: str, platform: str, api_version: str = "") -> bool | None:
    """Whether programs of this CUDA version run under a driver; None if unknown.

    Where no floor is published (CUDA 13 on Windows): by the CUDA version that the driver itself says it serves
    (`told`), else by the newest CUDA family that its branch is published for.
    """
    if floor := driver_floor(tables, cuda, platform):
        return reaches(tables, driver, floor.low, platform)
    wanted = numbers(cuda)[:1]
    if numbers(api_version):
        return numbers(api_version)[:1] >= wanted
    rows = [row for row in tables.rows("nvidia-driver", "offers", "cuda-runtime", platform=platform) if row.values]
    offered = [numbers(row.values)[:1] for row in newest_up_to(rows, driver)]
    if offered:
        return max(offered) >= wanted
    oldest = numbers(rows[0].values)[:1] if rows else wanted
    return False if oldest < wanted else None  # older than all that is published serves no more than they do


@computed_once
def cuda_without_card(tables: Tables, capability: str, cuda: str) -> Requirement | None:
    """The row by which this CUDA writes no code for such a card, not yet ("needs") or no longer ("ends-with").

    Code for an older card of the same major runs too.
    """
    version = numbers(capability)
    family = [
        row
        for row in tables.rows("compute-capability", "needs", "cuda-toolkit")
        if row.low and numbers(row.version)[:1] == version[:1] and numbers(row.version) <= version
    ]
    first = min(family, key=lambda row: numbers(row.low), default=None)
    if first is not None and is_below(cuda, first.low):
        return first
    for row in tables.rows("compute-capability", "ends-with", "cuda-toolkit"):
        last = numbers(row.values)
        if row.version == capability and last and numbers(cuda)[: len(last)] > last:
            return row
    return None
