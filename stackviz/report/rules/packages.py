"""Which release of a framework pip can install for a card, a driver and a Python: by the tables alone.

vLLM and SGLang bring one release of torch, in the build that pip takes by itself, and run where that runs. JAX, MLX and
TensorFlow bring their own CUDA, some in one package for each of its major versions (`jax[cuda13]`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from stackviz.base.backports import StrEnum
from stackviz.base.sentence import say
from stackviz.report.format.systems import wheel_variant
from stackviz.report.rules.checks.builds import builds_carrying
from stackviz.report.rules.compatibility import RuleSource, Tables, computed_once, newest_up_to, platforms_of
from stackviz.report.rules.drivers import (
    branch_beyond,
    cuda_without_card,
    first_branch,
    knows_card,
    last_branch,
    needed_driver,
    reaches,
)
from stackviz.report.rules.torch_cudas import default_cuda
from stackviz.report.rules.versions import is_below, major_minor, numbers

__all__ = [
    "PACKAGES",
    "Package",
    "PackagePlan",
    "PackageRelease",
    "PackageTarget",
    "Verdict",
    "package_pythons",
    "plan_package",
]


class Verdict(StrEnum):
    """Whether a release runs; what no table speaks of is unknown."""

    WORKS = "works"
    FAILS = "fails"
    UNKNOWN = "cannot-tell"


@dataclass(frozen=True, slots=True)
class Package:
    """How a framework is published. `extras`: one for each CUDA, the newest first; "" where there is but one package.

    `compiles_later`: its code for a card is made on the machine, so no release lacks it.
    """

    component: str
    title: str
    extras: tuple[str, ...] = ("",)
    compiles_later: bool = False


PACKAGES = {
    package.component: package
    for package in (
        Package("vllm", "vLLM"),
        Package("sglang", "SGLang"),
        Package("jax", "JAX", ("cuda13", "cuda12"), compiles_later=True),
        Package("tensorflow", "TensorFlow", ("and-cuda",)),
        Package("mlx", "MLX", ("cuda13", "cuda12"), compiles_later=True),
    )
}


@dataclass(frozen=True, slots=True)
class PackageTarget:
    """What a framework is planned for. `capability` "": a Mac. `platform`: as drivers go.

    `driver`, `python`, `macos`: "" where not decided.
    """

    wheel: str
    platform: str
    capability: str = ""
    driver: str = ""
    python: str = ""
    macos: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageRelease:
    """A release with what it needs. `pins`: the packages that come with it; `driver`: the oldest that serves it and the
    card; `driver_last`: the last branch for the card; "" each where the tables do not say. `source`: of its row.
    """

    version: str
    extra: str
    pythons: tuple[str, ...]
    pins: tuple[tuple[str, str], ...] = ()
    cuda: str = ""
    driver: str = ""
    driver_last: str = ""
    glibc: str = ""
    macos: str = ""
    source: RuleSource


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


def plan_package(tables: Tables, component: str, host: PackageTarget) -> PackagePlan:
    """The newest release that is known to run; else the newest that may; else why none does."""
    package = PACKAGES[component]
    refused: list[tuple[str, ...]] = []
    doubtful: list[tuple[PackageRelease, tuple[str, ...]]] = []
    for release in _releases(tables, package, host):
        if faults := tuple(_faults(tables, package, release, host)):
            refused.append(faults)
        elif doubts := tuple(_doubts(tables, package, release, host)):
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


@computed_once
def package_pythons(tables: Tables, component: str, wheel: str) -> tuple[str, ...]:
    """The Pythons that any release on record has a wheel for, oldest first."""
    host = PackageTarget(wheel, "")
    listed = {python for release in _releases(tables, PACKAGES[component], host) for python in release.pythons}
    return tuple(sorted(listed, key=numbers))


# --- what is on record ---


def _releases(tables: Tables, package: Package, host: PackageTarget) -> Iterator[PackageRelease]:
    """The newest first; of one release the extra for the newest CUDA first."""
    platforms = platforms_of(host.wheel)
    rows = [row for row in tables.rows(package.component, "needs", "python") if row.platform in platforms]
    versions = sorted({row.version for row in rows}, key=numbers, reverse=True)
    extras = package.extras if host.capability or not host.wheel.startswith("macos") else ("",)
    for version in versions:
        pythons = _pythons(tables, package.component, version, host.wheel)
        source = next(row.source for row in rows if row.version == version)
        for extra in extras:
            if pythons and _is_offered(tables, package, version, extra):
                yield _release(tables, package, host, version, extra, pythons, source)


def _is_offered(tables: Tables, package: Package, version: str, extra: str) -> bool:
    """Whether the tables know this extra of the release."""
    return not extra or any(row.version == version for row in tables.releases_of(package.component, extra))


def _release(
    tables: Tables,
    package: Package,
    host: PackageTarget,
    version: str,
    extra: str,
    pythons: tuple[str, ...],
    source: RuleSource,
) -> PackageRelease:
    pins = tuple(_pins(tables, package.component, version, host.wheel))
    torch = dict(pins).get("torch", "")
    cuda = default_cuda(tables, torch, host.wheel) if torch else _cuda(tables, package, version, extra)
    driver = _driver(tables, package, version, extra, cuda, host) if host.capability else ""
    return PackageRelease(
        version=version,
        extra=extra,
        pythons=pythons,
        pins=pins,
        cuda=cuda,
        driver=driver,
        driver_last=last_branch(tables, host.capability),
        glibc=_lowest(tables, package.component, "glibc", version, extra, host.wheel),
        macos=_lowest(tables, package.component, "macos", version, extra, host.wheel),
        source=source,
    )


def _pythons(tables: Tables, component: str, version: str, wheel: str) -> tuple[str, ...]:
    """With a wheel of the release, and of the torch that it brings."""
    platforms = platforms_of(wheel)
    rows = [
        row for row in tables.rows(component, "needs", "python") if row.version == version and row.platform in platforms
    ]
    listed = next((row.values.split() for row in rows if row.values), None)
    lowest = next((row.low for row in rows if row.low), "")
    torch = dict(_pins(tables, component, version, wheel)).get("torch", "")
    of_torch = _torch_pythons(tables, torch, wheel) if torch else None
    if listed is None:
        listed = [python for python in of_torch or () if not is_below(python, lowest)]
    return tuple(python for python in listed if of_torch is None or python in of_torch)


def _torch_pythons(tables: Tables, torch: str, wheel: str) -> tuple[str, ...]:
    rows = tables.rows("pytorch", "needs", "python", platform=wheel)
    listed = next((row.values.split() for row in rows if row.version == torch and row.values), [])
    return tuple(python for python in listed if not python.endswith("t"))


def _pins(tables: Tables, component: str, version: str, wheel: str) -> Iterator[tuple[str, str]]:
    """(package, release) that come with it, torch first."""
    platforms = platforms_of(wheel)
    for subject, package in (("pytorch", "torch"), ("torchvision", "torchvision"), ("torchaudio", "torchaudio")):
        for row in tables.rows(component, "needs", subject):
            if row.version == version and row.platform in platforms and row.values:
                yield package, row.values


def _cuda(tables: Tables, package: Package, version: str, extra: str) -> str:
    """The CUDA it was built with; of a package that names no more the major version of its extra."""
    for relation in ("ships", "needs"):
        for row in tables.rows(package.component, relation, "cuda-runtime"):
            if row.version == version and row.variant == extra:
                return row.values or row.low
    return extra.removeprefix("cuda")


def _driver(tables: Tables, package: Package, version: str, extra: str, cuda: str, host: PackageTarget) -> str:
    """The newest of what the framework asks for, its CUDA and the card."""
    rows = tables.rows(package.component, "needs", "nvidia-driver")
    stated = [row.low for row in rows if row.version == version and row.variant == extra]
    needed = needed_driver(tables, cuda, host.capability, host.platform) if cuda else None
    first = first_branch(tables, host.capability, host.platform)
    lows = [*stated, needed.low if needed and not stated else "", first.low if first else ""]
    return max(lows, key=numbers)


def _lowest(tables: Tables, component: str, subject: str, version: str, extra: str, wheel: str) -> str:
    platforms = platforms_of(wheel)
    rows = (
        row
        for row in tables.rows(component, "needs", subject)
        if row.platform in platforms and row.variant in ("", extra)
    )
    return next((row.low for row in newest_up_to(rows, version)), "")


# --- what is wrong with a release here ---


def _faults(tables: Tables, package: Package, release: PackageRelease, host: PackageTarget) -> Iterator[str]:
    this = say("{title} {version}", package.title, _named(release))
    if host.python and host.python not in release.pythons:
        yield say("{this} has no wheel for Python {python}", this, host.python)
    if host.macos and release.macos and is_below(host.macos, release.macos):
        yield say("{this} needs macOS {low} or newer", this, release.macos)
    if host.capability:
        yield from _of_card(tables, package, release, host, this)
        yield from _of_driver(tables, release, host, this)


def _named(release: PackageRelease) -> str:
    return f"{release.version} [{release.extra}]" if release.extra else release.version


def _of_card(
    tables: Tables, package: Package, release: PackageRelease, host: PackageTarget, this: str
) -> Iterator[str]:
    lowest = _least_capability(tables, package.component, release.version, release.extra)
    torch = dict(release.pins).get("torch", "")
    if lowest and is_below(host.capability, lowest):
        yield say("{this} needs compute capability {low} or newer", this, lowest)
    elif torch and _lacks_code(tables, torch, host):
        yield say(
            "{this} brings torch {torch} for CUDA {cuda}, which carries no code for compute capability {capability}",
            this,
            torch,
            major_minor(release.cuda),
            host.capability,
        )
    elif not torch and not package.compiles_later and release.cuda:
        row = cuda_without_card(tables, host.capability, release.cuda)
        if row is not None and row.relation == "ends-with":
            yield say(
                "{this} is built with CUDA {cuda}; CUDA {last} was the last one for compute capability {capability}",
                this,
                major_minor(release.cuda),
                row.values,
                host.capability,
            )


@computed_once
def _least_capability(tables: Tables, component: str, version: str, extra: str) -> str:
    rows = [row for row in tables.rows(component, "supports", "compute-capability") if row.variant in ("", extra)]
    return next((row.low for row in newest_up_to((row for row in rows if row.low and not row.part), version)), "")


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


def _of_driver(tables: Tables, release: PackageRelease, host: PackageTarget, this: str) -> Iterator[str]:
    driver, capability, platform = host.driver, host.capability, host.platform
    if not driver:
        return
    first = first_branch(tables, capability, platform)
    if not knows_card(tables, driver, capability, platform):
        if first and is_below(driver, first.low):
            yield say("Compute capability {capability} begins with R{low}: has {driver}", capability, first.low, driver)
        else:
            yield say(
                "R{last} is the last branch for compute capability {capability}: has {driver}",
                release.driver_last,
                capability,
                driver,
            )
    elif release.driver and reaches(tables, driver, release.driver, platform) is False:
        cuda = say(" for CUDA {cuda}", major_minor(release.cuda)) if release.cuda else ""
        yield say("{this}{cuda} needs driver {low} or newer: has {driver}", this, cuda, release.driver, driver)


def _doubts(tables: Tables, package: Package, release: PackageRelease, host: PackageTarget) -> Iterator[str]:
    this, torch = say("{title} {version}", package.title, _named(release)), dict(release.pins).get("torch", "")
    if not host.capability:
        return
    newest = branch_beyond(tables, host.driver, host.platform) if host.driver else ""
    if newest:
        yield say(
            "Cannot tell whether driver {driver} still supports capability {capability}: R{newest} is the newest "
            "branch on record",
            host.driver,
            host.capability,
            newest,
        )
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
