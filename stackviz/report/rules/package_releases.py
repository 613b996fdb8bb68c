"""What the tables know of the releases of vLLM, SGLang, JAX, TensorFlow and MLX.

vLLM and SGLang bring one release of torch, in the build that pip takes by itself, and run where that runs. JAX, MLX and
TensorFlow bring their own CUDA, some in one package for each of its major versions (`jax[cuda13]`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from stackviz.report.rules.compatibility import (
    Requirement,
    RuleSource,
    Tables,
    computed_once,
    newest_up_to,
    platforms_of,
)
from stackviz.report.rules.drivers import first_branch, last_branch, needed_driver
from stackviz.report.rules.torch_cudas import default_cuda
from stackviz.report.rules.versions import is_below, major_minor, numbers, same_line

__all__ = [
    "PACKAGES",
    "Package",
    "PackageRelease",
    "PackageTarget",
    "first_with_macos",
    "installed_release",
    "package_pythons",
    "releases_on_record",
]


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
    """The machine that a framework is to run on. `capability` "": a Mac. `platform`: as drivers go.

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
    card, by `driver_source`; `driver_last`: the last branch for the card; "" each where the tables do not say.

    `pythons`: with a wheel; none where the release is not on record. `source`: of its row.
    """

    version: str
    extra: str
    pythons: tuple[str, ...]
    pins: tuple[tuple[str, str], ...] = ()
    cuda: str = ""
    driver: str = ""
    driver_source: RuleSource | None = None
    driver_last: str = ""
    glibc: str = ""
    macos: str = ""
    source: RuleSource | None

    @property
    def name(self) -> str:
        """`0.12.0.1 [cuda13]`."""
        return f"{self.version} [{self.extra}]" if self.extra else self.version


@computed_once
def package_pythons(tables: Tables, component: str, wheel: str) -> tuple[str, ...]:
    """The Pythons that any release on record has a wheel for, oldest first."""
    host = PackageTarget(wheel, "")
    listed = {python for release in releases_on_record(tables, PACKAGES[component], host) for python in release.pythons}
    return tuple(sorted(listed, key=numbers))


def releases_on_record(tables: Tables, package: Package, host: PackageTarget) -> Iterator[PackageRelease]:
    """The newest first; of one release the extra for the newest CUDA first."""
    rows = _rows_of_pythons(tables, package.component, host.wheel)
    versions = sorted({row.version for row in rows}, key=numbers, reverse=True)
    extras = package.extras if host.capability or not host.wheel.startswith("macos") else ("",)
    for version in versions:
        pythons = _pythons(tables, package.component, version, host.wheel)
        source = next(row.source for row in rows if row.version == version)
        for extra in extras:
            if pythons and _is_offered(tables, package, version, extra):
                yield _release(tables, package, host, version, extra, pythons, source)


def installed_release(
    tables: Tables, package: Package, host: PackageTarget, version: str, extra: str, cuda: str
) -> PackageRelease:
    """A release that is there. `cuda`: of the build, where it is known; else of its extra, or of what pip takes.

    One that is not on record has no Pythons and no source.
    """
    rows = _rows_of_pythons(tables, package.component, host.wheel)
    row = next((row for row in rows if numbers(row.version) == numbers(version)), None)
    pythons = _pythons(tables, package.component, row.version, host.wheel) if row else ()
    return _release(tables, package, host, version, extra, pythons, row.source if row else None, cuda)


def first_with_macos(tables: Tables, component: str, version: str, wheel: str) -> Requirement | None:
    """The row of the first release whose wheels need the macOS that this one needs; None where no macOS is known."""
    rows = tables.rows(component, "needs", "macos", platform=wheel, part="wheel")
    row = next(iter(newest_up_to(rows, version)), None)
    return row and next(other for other in rows if other.low == row.low)


def _rows_of_pythons(tables: Tables, component: str, wheel: str) -> list[Requirement]:
    platforms = platforms_of(wheel)
    return [row for row in tables.rows(component, "needs", "python") if row.platform in platforms]


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
    source: RuleSource | None,
    cuda: str = "",
) -> PackageRelease:
    pins = tuple(_pins(tables, package.component, version, host.wheel))
    cuda = cuda or _cuda(tables, package, version, extra, dict(pins).get("torch", ""), host.wheel)
    driver = None if host.platform == "macos" else _driver(tables, package, version, extra, cuda, host)
    glibc = _lowest(tables, package.component, "glibc", version, extra, host.wheel)
    macos = _lowest(tables, package.component, "macos", version, extra, host.wheel)
    return PackageRelease(
        version=version,
        extra=extra,
        pythons=pythons,
        pins=pins,
        cuda=cuda,
        driver=driver.low if driver else "",
        driver_source=driver.source if driver else None,
        driver_last=last_branch(tables, host.capability),
        glibc=glibc.low if glibc else "",
        macos=macos.low if macos else "",
        source=source,
    )


def _pythons(tables: Tables, component: str, version: str, wheel: str) -> tuple[str, ...]:
    """With a wheel of the release, and of the torch that it brings."""
    rows = [row for row in _rows_of_pythons(tables, component, wheel) if row.version == version]
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
            if numbers(row.version) == numbers(version) and row.platform in platforms and row.values:
                yield package, row.values


def _cuda(tables: Tables, package: Package, version: str, extra: str, torch: str, wheel: str) -> str:
    """The CUDA of the torch that it brings, else the one it was built with, as other releases of its line were.

    Of a package that names no more the major version of its extra; "" where there is none.
    """
    if torch:
        return default_cuda(tables, torch, wheel)
    rows = [
        row
        for relation in ("ships", "needs")
        for row in tables.rows(package.component, relation, "cuda-runtime")
        if row.variant == extra or (row.platform == wheel and row.part == "tested build")
    ]
    same = [row for row in rows if numbers(row.version) == numbers(version)]
    of_line = [row for row in rows if same_line(row.version, major_minor(version))]
    named = extra.removeprefix("cuda")
    return next((row.values or row.low for row in (*same, *of_line)), named if numbers(named) else "")


def _driver(
    tables: Tables, package: Package, version: str, extra: str, cuda: str, host: PackageTarget
) -> Requirement | None:
    """The newest of what the framework asks for, its CUDA and the card."""
    rows = tables.rows(package.component, "needs", "nvidia-driver")
    stated = [row for row in rows if numbers(row.version) == numbers(version) and row.variant == extra]
    needed = needed_driver(tables, cuda, host.capability, host.platform) if cuda and not stated else None
    first = first_branch(tables, host.capability, host.platform)
    return max(filter(None, (*stated, needed, first)), key=lambda row: numbers(row.low), default=None)


def _lowest(tables: Tables, component: str, subject: str, version: str, extra: str, wheel: str) -> Requirement | None:
    platforms = platforms_of(wheel)
    rows = (
        row
        for row in tables.rows(component, "needs", subject)
        if row.platform in platforms and row.variant in ("", extra)
    )
    return next(iter(newest_up_to(rows, version)), None)
