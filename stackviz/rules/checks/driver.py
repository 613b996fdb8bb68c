"""Is the NVIDIA driver right for what runs on it: for torch's CUDA, for the cards, and still supported?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stackviz.rules.checks.cards import by_capability, named
from stackviz.rules.compatibility import Requirement, Source, Tables, newest_up_to
from stackviz.rules.finding import Severity, Verdict
from stackviz.rules.look import Look, NotReported
from stackviz.rules.rule import Rule
from stackviz.rules.versions import is_below, major_minor, numbers, same_line

MINOR_VERSION = Source(
    "cuda-minor-version-compatibility",
    "CUDA Compatibility: Minor Version Compatibility",
    "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html",
)
SUPPORTED_DRIVERS = Source(
    "nvidia-supported-drivers-615",
    "NVIDIA Supported Drivers and CUDA Toolkit Versions, 615 edition",
    "https://docs.nvidia.com/datacenter/tesla/drivers/615/supported-drivers-and-cuda-toolkit-versions.html",
)
ARCHITECTURES = Source(
    "nvidia-architecture-matrix",
    "CUDA Toolkit, Driver and Architecture Matrix",
    "https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html",
)
# On Windows a branch numbers its drivers a little upwards (R570 reaches 573, R610 is 610): never five or more.
WINDOWS_BRANCH_SPAN = 5


def uses_nvidia(look: Look) -> bool:
    """Whether this machine has an NVIDIA card or at least its driver."""
    return bool(look.cards("nvidia")) or look.get("nvidia.driver_version") is not None


def cuda_of_torch(look: Look) -> str | None:
    """The CUDA version torch was built with; None if there is no torch or it was built without CUDA."""
    if look.says_none("torch.version") or look.says_none("torch.cuda_version"):
        return None
    return look.need("torch.cuda_version")


def driver_floor(tables: Tables, cuda: str, platform: str) -> Requirement | None:
    """The oldest driver that runs programs of this CUDA version: of the major family from 11 on, else of the minor.

    A driver that came with the very version serves it too, even below the family's floor (CUDA 11.0 did so).
    """
    rows = [row for row in tables.rows("cuda-runtime", "needs", "nvidia-driver", platform=platform) if row.low]
    fitting = [row for row in rows if same_line(cuda, row.version)]
    if not fitting:
        return None
    exact = (row for row in shipped_drivers(tables, cuda, platform) if "." in row.values)  # not a bare branch
    shipped = [replace(row, low=row.values) for row in exact]
    return min((fitting[-1], *shipped), key=lambda row: numbers(row.low))


def shipped_drivers(tables: Tables, cuda: str, platform: str) -> list[Requirement]:
    """The drivers that came with the toolkits of this CUDA major and minor version, oldest toolkit first."""
    rows = tables.rows("cuda-toolkit", "ships", "nvidia-driver", platform=platform)
    return [row for row in rows if same_line(row.version, major_minor(cuda))]


def check_driver_too_old(look: Look, tables: Tables) -> Iterator[Verdict]:
    if not uses_nvidia(look):
        return
    cuda = cuda_of_torch(look)
    if cuda is None:
        return
    driver, platform = look.need("nvidia.driver_version"), look.platform
    floor = driver_floor(tables, cuda, platform)
    if floor is None:
        yield from _by_driver_api(look, cuda, driver)
    elif is_below(driver, floor.low):
        yield _too_old(f"CUDA {cuda} needs driver {floor.low} or newer; this machine has {driver}", cuda, floor.source)
    else:
        title = f"CUDA {cuda} needs driver {floor.low} or newer: has {driver}"
        yield Verdict(Severity.FITS, title, source=floor.source)


def _by_driver_api(look: Look, cuda: str, driver: str) -> Iterator[Verdict]:
    """No floor is published for this platform: compare what the driver says it serves."""
    serves = look.need("cuda.driver_api_version")
    if numbers(serves)[:1] < numbers(cuda)[:1]:
        yield _too_old(f"torch is built for CUDA {cuda}; driver {driver} serves up to CUDA {serves}", cuda, None)
    else:
        yield Verdict(Severity.FITS, f"CUDA {cuda} needs a driver of its major family: {driver} serves {serves}")


def _too_old(title: str, cuda: str, source: Source | None) -> Verdict:
    return Verdict(
        Severity.BROKEN,
        title,
        "The CUDA runtime inside the torch wheel refuses a driver below its family's floor: torch sees no GPU at all.",
        "Update the NVIDIA driver, or install a torch build for an older CUDA than "
        f"{cuda} (pip install torch --index-url https://download.pytorch.org/whl/cu<version>).",
        source=source,
    )


def check_driver_before_toolkit(look: Look, tables: Tables) -> Iterator[Verdict]:
    if not uses_nvidia(look):
        return
    cuda = cuda_of_torch(look)
    if cuda is None:
        return
    driver, platform = look.need("nvidia.driver_version"), look.platform
    floor = driver_floor(tables, cuda, platform)
    shipped = shipped_drivers(tables, cuda, platform)
    if not shipped or floor is None or is_below(driver, floor.low) or not is_below(driver, shipped[0].values):
        return
    yield Verdict(
        Severity.NOTE,
        f"Driver {driver} is older than the one CUDA {major_minor(cuda)} came with ({shipped[0].values})",
        "Programs run under minor-version compatibility. What they cannot have is code that this driver would have to "
        "compile from newer PTX, and features that came with the newer driver.",
        f"Nothing while all works; for builds that rely on PTX, update the driver to {shipped[0].values} or newer.",
        source=shipped[0].source,
    )


def driver_branch(tables: Tables, driver: str, platform: str) -> str | None:
    """The branch a driver belongs to ("535"); None if the tables know none that fits."""
    major = numbers(driver)[0]
    span = WINDOWS_BRANCH_SPAN if platform == "windows" else 1
    known = [row.version for row in tables.releases_of("nvidia-driver", platform)]
    fitting = [branch for branch in known if 0 <= major - numbers(branch)[0] < span]
    return fitting[-1] if fitting else None


def check_driver_branch_ended(look: Look, tables: Tables) -> Iterator[Verdict]:
    driver = look.get("nvidia.driver_version")
    if driver is None or not numbers(driver):
        if look.cards("nvidia"):
            raise NotReported("nvidia.driver_version")
        return
    platform = look.platform or look.need("os.name")
    branch = driver_branch(tables, driver, platform)
    release = next((r for r in tables.releases_of("nvidia-driver", platform) if r.version == branch), None)
    if release is None or not release.support_ends:
        yield Verdict(
            Severity.CANNOT_TELL, f"Cannot tell how long driver {driver} is supported: its branch has no date"
        )
    elif release.last_day < look.day:
        yield Verdict(
            Severity.WARNING,
            f"Driver branch R{branch} is no longer supported: it ended {release.support_ends}",
            f"{driver} belongs to R{branch} ({release.line or 'branch'}). No fixes come after the end, security ones "
            "included.",
            _supported_branch(tables, look.day, platform),
            source=release.source,
        )
    else:
        title = f"Driver branch R{branch} is supported until {release.support_ends}"
        yield Verdict(Severity.FITS, title, source=release.source)


def _supported_branch(tables: Tables, day: str, platform: str) -> str:
    """Where to move to: the branch that the tables know to be supported longest."""
    supported = [release for release in tables.releases_of("nvidia-driver", platform) if release.last_day >= day]
    if not supported:
        return "Move to a branch that is still supported; none that is known here has an end after this day."
    best = max(supported, key=lambda release: release.last_day)
    kind = f" ({best.line})" if best.line else ""
    return f"Move to a branch that is still supported, longest R{best.version}{kind}: until {best.support_ends}."


def check_driver_dropped_card(look: Look, tables: Tables) -> Iterator[Verdict]:
    cards = look.cards("nvidia")
    if not cards:
        return
    driver = look.need("nvidia.driver_version")
    platform = look.platform or look.need("os.name")
    branches = list(tables.rows("nvidia-driver", "supports", "compute-capability", platform=platform))
    rows = newest_up_to(branches, driver)
    if not rows:
        return
    for capability, group in by_capability(cards):
        if is_below(capability, rows[0].low):
            yield Verdict(
                Severity.BROKEN,
                f"Driver {driver} no longer serves {named(group)} (capability {capability})",
                f"A driver of R{rows[0].version} or newer serves compute capability {rows[0].low} and newer.",
                _last_branch_for(branches, capability),
                cards=tuple(card.index for card in group),
                source=rows[0].source,
            )


def _last_branch_for(branches: Sequence[Requirement], capability: str) -> str:
    fitting = [row.version for row in branches if row.low and not is_below(capability, row.low)]
    if not fitting:
        return "No driver branch known here serves this capability: use another card."
    return f"Go back to a driver of the R{fitting[-1]} branch, the last one for compute capability {capability}."


RULES = (
    Rule(
        "driver-too-old",
        "cuda-runtime",
        "the driver is new enough for torch's CUDA",
        MINOR_VERSION,
        check_driver_too_old,
    ),
    Rule(
        "minor-compat-ptx",
        "cuda-runtime",
        "the driver is as new as the CUDA toolkit torch was built with",
        MINOR_VERSION,
        check_driver_before_toolkit,
    ),
    Rule(
        "driver-branch-ended",
        "nvidia-driver",
        "the driver is still supported",
        SUPPORTED_DRIVERS,
        check_driver_branch_ended,
    ),
    Rule(
        "driver-dropped-card",
        "nvidia-driver",
        "the driver still serves the card",
        ARCHITECTURES,
        check_driver_dropped_card,
    ),
)
