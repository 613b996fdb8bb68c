"""Releases as people name them: CUDA 12.8, PyTorch 2.15, driver 580. Each has one page. No queries."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from django.utils.text import slugify

from stackviz.records.stacks.queries import names_of_components
from stackviz.report.rules import Tables
from stackviz.report.rules.compatibility import Release, Requirement, RuleSource, computed_once
from stackviz.report.rules.drivers import driver_branch
from stackviz.report.rules.versions import numbers, same_line
from stackviz.web.http.addresses import address_by_name

__all__ = [
    "DRIVER",
    "ReleaseLine",
    "ReleaseUse",
    "find_line",
    "line_of",
    "lines_of_product",
    "nearest_lines",
    "release_lines",
    "siblings",
    "uses_of",
]

ANY_RELEASE = "0.0"  # in the tables: holds for all releases
DRIVER = "driver"
MOST_NEAREST = 6
# Component and variant of its releases -> the product that people name; the component's slug where there is none.
_PRODUCTS = {
    ("cuda-toolkit", ""): "cuda",
    ("cuda-runtime", ""): "cuda",
    ("pytorch", ""): "torch",
    ("nvidia-driver", ""): DRIVER,
    ("linux", "ubuntu"): "ubuntu",
}
# Names of products that differ from those of their components.
_NAMES = {
    "cuda": "CUDA", "ubuntu": "Ubuntu", "rocm": "ROCm", "mig": "MIG", "jax-metal": "jax-metal",
    "torch-npu": "torch_npu",
}  # fmt: skip
_SYSTEM = re.compile(r"Windows ([\d.]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLine:
    """Releases of a product with one name. `releases`: the oldest first, builds and platforms of each."""

    product: str
    version: str
    releases: tuple[Release, ...]

    @property
    def slug(self) -> str:
        return f"{self.product}-{slug_of_version(self.version)}"

    @property
    def url(self) -> str:
        """Return its page's address in the language that is active."""
        if self.product == DRIVER:
            return address_by_name("stacks:driver", self.version)
        return address_by_name("stacks:release", self.slug)

    @property
    def components(self) -> tuple[str, ...]:
        """Return what requirements name it by: the slugs of the components whose releases these are."""
        of_product = (component for (component, _variant), product in _PRODUCTS.items() if product == self.product)
        return tuple(dict.fromkeys((self.releases[-1].component, *of_product)))

    @property
    def name(self) -> str:
        """`CUDA 12.8`, `NVIDIA driver 580`"""
        component = self.releases[-1].component
        return f"{_NAMES.get(self.product) or names_of_components().get(component, component)} {self.version}"

    @property
    def newest(self) -> tuple[Release, ...]:
        """The newest release, on each platform and in each build that has a row, the plain one first."""
        newest = max(numbers(release.version) for release in self.releases)
        rows = [release for release in self.releases if numbers(release.version) == newest]
        return tuple(sorted(rows, key=lambda release: release.variant))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseUse:
    """What the tables say of a line from elsewhere: `lines` of one product need it, ship it, have builds for it.

    `is_least`: they take newer ones too.
    """

    relation: str
    component: str
    is_least: bool
    lines: tuple[ReleaseLine, ...]
    source: RuleSource


def slug_of_version(version: str) -> str:
    return ".".join(slugify(part) for part in version.split("."))


@computed_once
def release_lines(tables: Tables) -> Mapping[str, ReleaseLine]:
    """Slug -> line, by product, the oldest first."""
    grouped: dict[tuple[str, str], list[Release]] = defaultdict(list)
    for release in tables.releases:
        if release.version != ANY_RELEASE:
            grouped[_product(release), _line_version(release)].append(release)
    lines = [
        ReleaseLine(product=product, version=version, releases=tuple(sorted(releases, key=_by_age)))
        for (product, version), releases in grouped.items()
    ]
    lines.sort(key=lambda line: (line.product, numbers(line.version), line.version))
    return {line.slug: line for line in lines}


def _by_age(release: Release) -> tuple[tuple[int, ...], str, str]:
    return numbers(release.version), release.component, release.variant


def _product(release: Release) -> str:
    named = _PRODUCTS.get((release.component, release.variant)) or _PRODUCTS.get((release.component, ""))
    return named or release.component


def _line_version(release: Release) -> str:
    """`12.8` of 12.8.1, `0.0.35` of 0.0.35.post1; the number in its name where there is one (Windows 11)."""
    if system := _SYSTEM.match(release.line):
        return system[1]
    if not numbers(release.version):
        return release.version
    return ".".join(release.version.split(".")[: 3 if release.version.startswith("0.0.") else 2])


@computed_once
def lines_of_product(tables: Tables, product: str) -> tuple[ReleaseLine, ...]:
    """The lines of a product, the oldest first."""
    return tuple(line for line in release_lines(tables).values() if line.product == product)


@computed_once
def siblings(tables: Tables, line: ReleaseLine) -> tuple[ReleaseLine, ...]:
    """Return the lines of its kind: of CUDA 12.8 those with a minor version, of CUDA 12 the families."""
    length = len(numbers(line.version))
    return tuple(other for other in lines_of_product(tables, line.product) if len(numbers(other.version)) == length)


@computed_once
def line_of(tables: Tables, product: str, version: str) -> ReleaseLine | None:
    """The line that a version belongs to: `580.65.06` to driver 580, `26.1` to macOS 26, `12.8.1` to CUDA 12.8."""
    if product == DRIVER:
        version = driver_branch(tables, version, "linux") or version
    if exact := release_lines(tables).get(f"{product}-{slug_of_version(version)}"):
        return exact
    lines = lines_of_product(tables, product)
    if release := next((line for line in lines if any(row.version == version for row in line.releases)), None):
        return release
    above = [line for line in lines if same_line(version, line.version)]
    return max(above, key=lambda line: len(numbers(line.version)), default=None)


def find_line(tables: Tables, slug: str) -> ReleaseLine | None:
    """The line of an address, also by its component or by one of its releases: `pytorch-2.14.1`; None for others."""
    if line := release_lines(tables).get(slug):
        return line
    name, _dash, version = slug.rpartition("-")
    line = line_of(tables, _product_of(name), version)
    if line is None or line.product == DRIVER:  # the tables have its branches, not its releases
        return line
    return line if any(same_line(row.version, version) for row in line.releases) else None


def _product_of(name: str) -> str:
    return _PRODUCTS.get((name, ""), name)


def nearest_lines(tables: Tables, slug: str) -> tuple[ReleaseLine, ...]:
    """The lines nearest to what is none: by number where the product is known, else by the name."""
    name, _dash, version = slug.rpartition("-")
    lines, wanted = lines_of_product(tables, _product_of(name)), numbers(version)
    if lines and wanted:
        below = [line for line in lines if numbers(line.version) <= wanted]
        return (*below[-MOST_NEAREST // 2 :], *lines[len(below) :][: MOST_NEAREST // 2])
    if lines:
        return lines[-MOST_NEAREST:]
    known = release_lines(tables)
    return tuple(known[near] for near in get_close_matches(slug, known, MOST_NEAREST))


@computed_once
def uses_of(tables: Tables, line: ReleaseLine) -> tuple[ReleaseUse, ...]:
    """What needs the line, ships it or has builds for it, by product; without rows of low confidence."""
    grouped: dict[tuple[str, str, bool], list[Requirement]] = defaultdict(list)
    for row in tables.requirements:
        if row.subject in line.components and row.confidence != "low":
            for is_least in _matches(tables, line, row):
                grouped[row.component, row.relation, is_least].append(row)
    return tuple(
        ReleaseUse(
            relation=relation,
            component=component,
            is_least=is_least,
            lines=tuple(_lines_of_rows(tables, rows)),
            source=max(rows, key=lambda row: (numbers(row.version), row.key)).source,
        )
        for (component, relation, is_least), rows in sorted(grouped.items(), key=lambda item: item[0])
    )


def _matches(tables: Tables, line: ReleaseLine, row: Requirement) -> Iterator[bool]:
    """Yield False where the row names the line itself, True where the line is the least that it takes."""
    for versions, is_least in ((row.values.split(), False), ([row.low] if row.low else [], True)):
        if any(_is_of_line(tables, line, version, row.platform) for version in versions):
            yield is_least


def _is_of_line(tables: Tables, line: ReleaseLine, version: str, platform: str) -> bool:
    if line.product == DRIVER:
        return driver_branch(tables, version, "windows" if platform.startswith("windows") else "linux") == line.version
    return same_line(version, line.version) if numbers(line.version) else version == line.version


def _lines_of_rows(tables: Tables, rows: list[Requirement]) -> list[ReleaseLine]:
    """The lines that the rows are of, each once, the oldest first; none for rows that hold for any release."""
    versions = sorted({(row.component, row.version) for row in rows}, key=lambda pair: (pair[0], numbers(pair[1])))
    lines = (line_of(tables, _product_of(component), version) for component, version in versions)
    return list(dict.fromkeys(line for line in lines if line))
