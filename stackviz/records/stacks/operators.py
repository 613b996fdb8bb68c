"""Execution paths of operators, from the Python call to the unit that runs it, by device, eager and compiled.

Reviewed files, not editable in the admin; the source of each line is a file at a version. `data/operators.toml` lists
the operators, `operator_steps.csv` their steps in order (those of the operator `any` are common to all),
`operator_sources.csv` the sources, `operator_coverage.csv` how many operators have a kernel, by release. Pure: no
database.
"""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.draw.diagrams.layers import Layer
from stackviz.records.curated.rows import CuratedDataError
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.curated_text import curated_words

__all__ = [
    "COMPLETE",
    "DEVICES",
    "EVERY",
    "MODES",
    "Coverage",
    "Operator",
    "OperatorStep",
    "operator_coverage",
    "operators",
    "steps_of",
]

DATA = Path(__file__).resolve().parent / "data"
EVERY = "any"
COMPLETE = ("cuda", "mps", "cpu")  # have a path of every operator
DEVICES = (*COMPLETE, "rocm", "xpu", "mlx")  # of torch, and MLX's GPU beside them
MODES = ("eager", "compiled")
OUTCOMES = ("", "cpu", "missing")


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator. `call`: the Python call; `aten`: the overloads whose kernels it runs."""

    slug: str
    name: str
    call: str
    what_it_is: str
    aten: tuple[str, ...]

    def get_absolute_url(self) -> str:
        return address_by_name("stacks:operator", self.slug)

    @property
    def local_name(self) -> str:
        """The name in the language of the page."""
        return curated_words(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorStep:
    """One step of a path. `named`: its name in the code; `when`: its condition, "" for always.

    `outcome`: "" the path continues, "cpu" the work falls back to the CPU, "missing" it fails. `component`: slug of the
    component that runs it, "" for PyTorch itself or an undescribed one.
    """

    operator: str
    device: str
    mode: str
    layer: Layer
    does: str
    named: str
    when: str
    outcome: str
    component: str
    source: SourceLink


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Numbers of overloads and names of the namespace aten that have a kernel in one release of torch.

    `core_*`: of the operators tagged core, None before the tag existed. `source_url`: the counted file.
    """

    torch: str
    mps_overloads: int
    mps_names: int
    cuda_overloads: int
    cuda_names: int
    core_with_mps: int | None
    core_all: int | None
    core_with_nothing: int | None
    source_url: str


@lru_cache(maxsize=1)
def operators() -> Mapping[str, Operator]:
    """Slug -> operator, in the order of the page."""
    lines = tomllib.loads((DATA / "operators.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            slug: Operator(slug, line["name"], line["call"], line["is"], tuple(line["aten"]))
            for slug, line in lines.items()
        }
    )


def steps_of(operator: str, device: str, mode: str) -> Sequence[OperatorStep]:
    """The steps in order; those common to all operators are under EVERY. Raises CuratedDataError."""
    return _steps().get((operator, device, mode), ())


@lru_cache(maxsize=1)
def _steps() -> Mapping[tuple[str, str, str], Sequence[OperatorStep]]:
    sources = {line["key"]: line for line in _lines("operator_sources.csv")}
    lines = _lines("operator_steps.csv")
    if problems := list(_problems(lines, sources)):
        raise CuratedDataError(problems)
    steps: dict[tuple[str, str, str], list[OperatorStep]] = {}
    for line in lines:
        source = sources[line["source"]]
        step = OperatorStep(
            operator=line["operator"],
            device=line["device"],
            mode=line["mode"],
            layer=Layer(line["layer"]),
            does=line["does"],
            named=line["named"],
            when=line["when"],
            outcome=line["outcome"],
            component=line["component"],
            source=SourceLink(source["title"], source["url"]),
        )
        steps.setdefault((step.operator, step.device, step.mode), []).append(step)
    return MappingProxyType(steps)


def _problems(lines: Sequence[Mapping[str, str]], sources: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    known = {
        "operator": (EVERY, *operators()),
        "device": DEVICES,
        "mode": MODES,
        "layer": tuple(Layer),
        "outcome": OUTCOMES,
        "source": tuple(sources),
    }
    for number, line in enumerate(lines, start=2):
        for name, values in known.items():
            if line[name] not in values:
                yield f"operator_steps.csv, line {number}: {name} {line[name]!r} is not known"
        if not line["does"]:
            yield f"operator_steps.csv, line {number}: it says nothing"
    for key, source in sources.items():
        if not source["url"].startswith("https://"):
            yield f"operator_sources.csv: {key} has no web address"


@lru_cache(maxsize=1)
def operator_coverage() -> tuple[Coverage, ...]:
    """Coverage by release of torch, newest first."""
    return tuple(
        Coverage(
            torch=line["torch"],
            mps_overloads=int(line["mps_overloads"]),
            mps_names=int(line["mps_names"]),
            cuda_overloads=int(line["cuda_overloads"]),
            cuda_names=int(line["cuda_names"]),
            core_with_mps=int(line["core_with_mps"]) if line["core_with_mps"] else None,
            core_all=int(line["core_all"]) if line["core_all"] else None,
            core_with_nothing=int(line["core_with_nothing"]) if line["core_with_nothing"] else None,
            source_url=line["source"],
        )
        for line in reversed(_lines("operator_coverage.csv"))
    )


def _lines(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
