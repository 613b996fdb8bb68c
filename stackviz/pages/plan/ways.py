"""The ways to install a framework on an accelerator: from the files in `data/` and the tables of torch. No queries."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.pages.plan.builds import PlanOutcome
from stackviz.pages.plan.planned_machine import SYSTEMS
from stackviz.pages.plan.releases import companions, install_command
from stackviz.pages.plan.solved import solved_way
from stackviz.pages.plan.support import BY_TABLES, PlanTarget, deciding_rows, guides, may_run
from stackviz.pages.plan.way import InstallWay, uv_command
from stackviz.records.stacks.torch_releases import pythons_of, torch_releases
from stackviz.report.rules import Requirement, Tables
from stackviz.report.rules.checks.builds import builds_carrying
from stackviz.report.rules.compatibility import computed_once
from stackviz.report.rules.versions import numbers, same_line

PYTORCH = "pytorch"
FRAMEWORKS: dict[str, str | Promise] = {
    PYTORCH: "PyTorch",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "mlx": "MLX",
    "own": _("the vendor's own software"),
}
INSTALLERS: dict[str, str | Promise] = {
    "pip": "pip",
    "uv": "uv",
    "container": _("container"),
    "script": _("script"),
    "source": _("source code"),
}
_OTHER_INDEX = "--extra-index-url"  # which uv reads in another order than pip: no command is made from such a one
_LINUX = "linux-x86_64"
JETSON = "nvidia-jetson-"  # boards whose driver and CUDA come with their JetPack


@computed_once
def ways(tables: Tables, target: PlanTarget) -> tuple[InstallWay, ...]:
    """All ways for an accelerator, by framework; at least one for each framework that is not the vendor's own."""
    ways = [way for framework in FRAMEWORKS for way in _ways_of(tables, target, framework)]
    return (*ways, *_with_uv(ways))


def _ways_of(tables: Tables, target: PlanTarget, framework: str) -> Iterator[InstallWay]:
    made = list(_of_tables(tables, target)) if framework == PYTORCH else []
    yield from made
    known, systems = {(way.system, way.installer) for way in made}, {way.system for way in made}
    for system, row in deciding_rows(target, framework):
        if (system, row.installer) in known or (made and not row.installer and system in {"", *systems}):
            continue
        if row.outcome == BY_TABLES:
            yield solved_way(tables, target, system, row)
            continue
        yield InstallWay(
            framework=framework,
            system=system,
            installer=row.installer,
            outcome=PlanOutcome(row.outcome),
            commands=row.commands,
            needs=tuple(filter(None, row.needs.split(", "))),
            pythons=row.pythons,
            note=row.note,
            source=row.guide.source,
            read_on=row.guide.read_on,
        )


def _with_uv(ways: Iterable[InstallWay]) -> Iterator[InstallWay]:
    """What pip installs, with uv, where the guide has no command for uv itself."""
    ways = list(ways)
    known = {(way.framework, way.system) for way in ways if way.installer == "uv"}
    for way in ways:
        if way.installer != "pip" or (way.framework, way.system) in known:
            continue
        if not any(_OTHER_INDEX in command for command in way.commands):
            yield replace(way, installer="uv", commands=tuple(uv_command(command) for command in way.commands))


# --- PyTorch, by the tables of its builds ---


def is_planned(target: PlanTarget) -> bool:
    """Whether the tables of torch's builds speak of it: CUDA cards with a capability and chips of Macs."""
    if target.vendor == "nvidia":
        return bool(numbers(target.capability)) and not target.slug.startswith(JETSON)
    return target.vendor == "apple" and target.slug.startswith("apple-m")


def _of_tables(tables: Tables, target: PlanTarget) -> Iterator[InstallWay]:
    if is_planned(target):
        yield from _planned(tables, target)
    elif target.vendor == "amd" and target.capability:
        yield from _rocm_ways(tables, target.capability)


def _planned(tables: Tables, target: PlanTarget) -> Iterator[InstallWay]:
    guide = guides()["pytorch-matrix"]
    for system in SYSTEMS.values():
        if target.vendor not in system.vendors or not may_run(target, system.key):
            continue
        if target.vendor == "nvidia":
            runs = bool(builds_carrying(tables, system.wheel, (target.capability,)))
        else:
            runs = bool(torch_releases(tables, system.wheel))
        yield InstallWay(
            framework=PYTORCH,
            system=system.key,
            installer="pip",
            outcome=PlanOutcome.WORKS if runs else PlanOutcome.UNKNOWN,
            source=guide.source,
            read_on=guide.read_on,
            is_planned=True,
        )


def _rocm_ways(tables: Tables, target: str) -> Iterator[InstallWay]:
    """The newest build of torch that is known to carry code for the target; nothing where none is known to."""
    row = next((row for row in _rocm_builds(tables) if target in row.values.split()), None)
    if row is None:
        return
    torch = next((version for version in torch_releases(tables, _LINUX) if same_line(version, row.version)), "")
    if not torch:
        return
    pythons = pythons_of(tables, torch, _LINUX)
    beside = companions(tables, torch, _LINUX, pythons, row.variant)
    yield InstallWay(
        framework=PYTORCH,
        system=_LINUX,
        installer="pip",
        outcome=PlanOutcome.WORKS,
        commands=(install_command(tables, torch, beside, row.variant),),
        needs=("AMD driver (amdgpu)",),
        pythons=pythons,
        source=row.source,
    )


def _rocm_builds(tables: Tables) -> list[Requirement]:
    """The rows that name targets, the newest release first."""
    rows = [row for row in tables.rows("pytorch", "built-for", "gfx-target") if row.variant.startswith("rocm")]
    return sorted(rows, key=lambda row: (numbers(row.version), row.part == ""), reverse=True)
