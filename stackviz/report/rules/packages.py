"""Whether a release of a framework runs on a card, under a driver and with a Python: by the tables alone.

A plan asks for the newest release that does (`plan_package`), a rule about the one that is there (`judge_installed`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from stackviz.base.backports import StrEnum
from stackviz.base.sentence import say
from stackviz.report.format.systems import wheel_variant
from stackviz.report.rules.checks.builds import builds_carrying
from stackviz.report.rules.compatibility import Requirement, RuleSource, Tables, computed_once, newest_up_to
from stackviz.report.rules.drivers import branch_beyond, cuda_without_card, first_branch, knows_card, reaches
from stackviz.report.rules.package_releases import (
    PACKAGES,
    Package,
    PackageRelease,
    PackageTarget,
    installed_release,
    releases_on_record,
)
from stackviz.report.rules.torch_cudas import default_cuda
from stackviz.report.rules.versions import is_below, major_minor

__all__ = ["Fault", "FaultKind", "JudgedPackage", "PackagePlan", "Verdict", "judge_installed", "plan_package"]


class Verdict(StrEnum):
    """Whether a release runs; what no table speaks of is unknown."""

    WORKS = "works"
    FAILS = "fails"
    UNKNOWN = "cannot-tell"


class FaultKind(StrEnum):
    """What a release asks of a machine."""

    PYTHON = "python"
    MACOS = "macos"
    CARD = "card"
    DRIVER = "driver"


@dataclass(frozen=True, slots=True)
class Fault:
    """What a release needs and a machine does not have. `source`: of the row that says so, where it is one."""

    kind: FaultKind
    reason: str
    source: RuleSource | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagePlan:
    """`release`: the newest that runs or may; None where none does. `passed_over`: why not the newest; where none does,
    why neither the newest nor the oldest.

    `doubts`: why it is not known to run.
    """

    package: Package
    verdict: Verdict
    release: PackageRelease | None
    passed_over: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def spec(self) -> str:
        """`vllm==0.33.0`, `"jax[cuda13]==0.12.0.1"`; "" for none."""
        if self.release is None:
            return ""
        component, extra = self.package.component, self.release.extra
        return f'"{component}[{extra}]=={self.release.version}"' if extra else f"{component}=={self.release.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPackage:
    """An installed release, what it lacks here, and what no table says of it. `name`: `JAX 0.12.0.1 [cuda13]`."""

    name: str
    release: PackageRelease
    faults: tuple[Fault, ...]
    doubts: tuple[str, ...]

    def lacks(self, kind: FaultKind) -> list[Fault]:
        """The faults of one kind."""
        return [fault for fault in self.faults if fault.kind == kind]


def plan_package(tables: Tables, component: str, host: PackageTarget) -> PackagePlan:
    """The newest release that is known to run; else the newest that may; else why none does."""
    package = PACKAGES[component]
    refused: list[tuple[str, ...]] = []
    doubtful: list[tuple[PackageRelease, tuple[str, ...]]] = []
    for release in releases_on_record(tables, package, host):
        if faults := tuple(fault.reason for fault in _faults(tables, package, release, host)):
            refused.append(faults)
        elif doubts := (*_doubts_of_driver(tables, host), *_doubts(tables, package, release, host)):
            doubtful.append((release, doubts))
        else:
            newest = next(chain(refused, (doubts for _release, doubts in doubtful)), ())
            return PackagePlan(package=package, verdict=Verdict.WORKS, release=release, passed_over=newest)
    reasons = tuple(dict.fromkeys(reason for faults in (*refused[:1], *refused[-1:]) for reason in faults))
    if doubtful:
        release, doubts = doubtful[0]
        over = reasons[:1]
        return PackagePlan(package=package, verdict=Verdict.UNKNOWN, release=release, passed_over=over, doubts=doubts)
    verdict = Verdict.FAILS if reasons else Verdict.UNKNOWN
    return PackagePlan(package=package, verdict=verdict, release=None, passed_over=reasons)


def judge_installed(
    tables: Tables, component: str, version: str, host: PackageTarget, *, extra: str = "", cuda: str = ""
) -> JudgedPackage:
    """Judge a release that a machine has as a plan judges it.

    `extra`: which of the package's builds it is; `cuda`: of its build, where something else names it. A release that is
    not on record is judged by these alone.
    """
    package = PACKAGES[component]
    built = extra or (package.extras[0] if len(package.extras) == 1 else "")
    release = installed_release(tables, package, host, version.partition("+")[0], built, cuda)
    release = replace(release, extra=extra)
    return JudgedPackage(
        name=_name(package, release),
        release=release,
        faults=tuple(_faults(tables, package, release, host)),
        doubts=tuple(_doubts(tables, package, release, host)),
    )


def _name(package: Package, release: PackageRelease) -> str:
    return say("{title} {version}", package.title, release.name)


# --- what a release lacks here ---


def _faults(tables: Tables, package: Package, release: PackageRelease, host: PackageTarget) -> Iterator[Fault]:
    this = _name(package, release)
    if host.python and release.pythons and host.python not in release.pythons:
        reason = say("{this} has no wheel for Python {python}", this, host.python)
        yield Fault(FaultKind.PYTHON, reason, release.source)
    if host.macos and release.macos and is_below(host.macos, release.macos):
        yield Fault(FaultKind.MACOS, say("{this} needs macOS {low} or newer", this, release.macos), release.source)
    if host.capability:
        yield from _of_card(tables, package, release, host, this)
    yield from _of_driver(tables, release, host, this)


def _of_card(
    tables: Tables, package: Package, release: PackageRelease, host: PackageTarget, this: str
) -> Iterator[Fault]:
    lowest = _least_capability(tables, package.component, release.version, release.extra)
    torch = dict(release.pins).get("torch", "")
    if lowest and is_below(host.capability, lowest.low):
        reason = say("{this} needs compute capability {low} or newer", this, lowest.low)
        yield Fault(FaultKind.CARD, reason, lowest.source)
    elif torch and _lacks_code(tables, torch, host):
        reason = say(
            "{this} brings torch {torch} for CUDA {cuda}, which carries no code for compute capability {capability}",
            this,
            torch,
            major_minor(release.cuda),
            host.capability,
        )
        yield Fault(FaultKind.CARD, reason)
    elif not torch and not package.compiles_later and release.cuda:
        row = cuda_without_card(tables, host.capability, release.cuda)
        if row is not None and row.relation == "ends-with":
            reason = say(
                "{this} is built with CUDA {cuda}; CUDA {last} was the last one for compute capability {capability}",
                this,
                major_minor(release.cuda),
                row.values,
                host.capability,
            )
            yield Fault(FaultKind.CARD, reason, row.source)


@computed_once
def _least_capability(tables: Tables, component: str, version: str, extra: str) -> Requirement | None:
    rows = [row for row in tables.rows(component, "supports", "compute-capability") if row.variant in ("", extra)]
    return next(iter(newest_up_to((row for row in rows if row.low and not row.part), version)), None)


def _lacks_code(tables: Tables, torch: str, host: PackageTarget) -> bool:
    """Whether the build that pip takes has no code for the card: it is not among those known to, nor unknown."""
    variant = wheel_variant(default_cuda(tables, torch, host.wheel))
    if _carries(tables, torch, variant, host):
        return False
    built = tables.rows("pytorch", "built-for", "compute-capability", platform=host.wheel)
    return any(row.version == major_minor(torch) and row.variant == variant for row in built)


def _carries(tables: Tables, torch: str, variant: str, host: PackageTarget) -> bool:
    fitting = builds_carrying(tables, host.wheel, (host.capability,))
    return any((build.torch, build.variant) == (major_minor(torch), variant) for build in fitting)


def _of_driver(tables: Tables, release: PackageRelease, host: PackageTarget, this: str) -> Iterator[Fault]:
    driver, capability, platform = host.driver, host.capability, host.platform
    if not driver:
        return
    first = first_branch(tables, capability, platform)
    if not knows_card(tables, driver, capability, platform):
        if first and is_below(driver, first.low):
            reason = say(
                "Compute capability {capability} begins with R{low}: has {driver}", capability, first.low, driver
            )
        else:
            reason = say(
                "R{last} is the last branch for compute capability {capability}: has {driver}",
                release.driver_last,
                capability,
                driver,
            )
        yield Fault(FaultKind.DRIVER, reason)
    elif release.driver and reaches(tables, driver, release.driver, platform) is False:
        cuda = say(" for CUDA {cuda}", major_minor(release.cuda)) if release.cuda else ""
        reason = say("{this}{cuda} needs driver {low} or newer: has {driver}", this, cuda, release.driver, driver)
        yield Fault(FaultKind.DRIVER, reason, release.driver_source)


# --- what no table says ---


def _doubts_of_driver(tables: Tables, host: PackageTarget) -> Iterator[str]:
    newest = branch_beyond(tables, host.driver, host.platform) if host.driver and host.capability else ""
    if newest:
        yield say(
            "Cannot tell whether driver {driver} still supports capability {capability}: R{newest} is the newest "
            "branch on record",
            host.driver,
            host.capability,
            newest,
        )


def _doubts(tables: Tables, package: Package, release: PackageRelease, host: PackageTarget) -> Iterator[str]:
    this, torch = _name(package, release), dict(release.pins).get("torch", "")
    if not host.capability:
        return
    if torch and not _carries(tables, torch, wheel_variant(default_cuda(tables, torch, host.wheel)), host):
        yield say("No source says which cards torch {torch}, which {this} brings, has code for", torch, this)
    elif not torch and not package.compiles_later and release.cuda:
        row = cuda_without_card(tables, host.capability, release.cuda)
        if row is not None and row.relation == "needs":
            yield say(
                "{this} is built with CUDA {cuda}, and CUDA {first} is the first one for compute capability "
                "{capability}: no source says that it carries code for the card",
                this,
                major_minor(release.cuda),
                row.low,
                host.capability,
            )
