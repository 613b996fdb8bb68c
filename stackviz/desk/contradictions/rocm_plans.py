"""Pairs of statements about AMD cards: the build of torch that a plan installs, and the diagnosis of that stack."""

import re
from collections.abc import Iterator

from stackviz.desk.contradictions.dumps import DumpedStack, broken_findings
from stackviz.desk.contradictions.pairs import Known, Pair, PublicStatement
from stackviz.pages.plan.support import PlanTarget
from stackviz.pages.plan.targets import find_target, plan_address
from stackviz.pages.plan.way import InstallWay
from stackviz.pages.plan.ways import PYTORCH, ways
from stackviz.records.stacks.torch_releases import torch_releases
from stackviz.report.rules import Tables
from stackviz.report.rules.versions import numbers, same_line

_SYSTEM = "linux-x86_64"
_COMMAND = re.compile(r"\btorch==(?P<torch>[\d.]+).*/whl/(?P<build>rocm[\d.]+)$")


def rocm_plans_and_diagnoses(known: Known) -> Iterator[Pair]:
    """Every AMD card that a build of torch is planned for: that build, and the newest one without code for it."""
    for accelerator in known.catalogue.accelerators:
        target = find_target(known.tables, accelerator.slug)
        if target is None or target.vendor != "amd":
            continue
        for way in ways(known.tables, target):
            command = _COMMAND.search(way.commands[0]) if _is_pip(way) else None
            if command is None:
                continue
            yield _diagnosed(known, target, command["torch"], command["build"], works=True)
            for torch, build in _without_code(known.tables, target.capability):
                yield _diagnosed(known, target, torch, build, works=False)


def _is_pip(way: InstallWay) -> bool:
    return (way.framework, way.system, way.installer) == (PYTORCH, _SYSTEM, "pip") and bool(way.commands)


def _without_code(tables: Tables, target: str) -> Iterator[tuple[str, str]]:
    """The newest release and build whose published targets leave this one out; nothing where all have it."""
    builds: dict[tuple[str, str], set[str]] = {}
    for row in tables.rows("pytorch", "built-for", "gfx-target", platform=_SYSTEM):
        builds.setdefault((row.version, row.variant), set()).update(row.values.split())
    for line, build in sorted(builds, key=_newest, reverse=True):
        torch = next((version for version in torch_releases(tables, _SYSTEM) if same_line(version, line)), "")
        if torch and target not in builds[line, build]:
            yield torch, build
            return


def _diagnosed(known: Known, target: PlanTarget, torch: str, build: str, *, works: bool) -> Pair:
    card = f"{target.name} ({target.capability})"
    dump = DumpedStack(system=_SYSTEM, torch=f"{torch}+{build}", rocm=build.removeprefix("rocm"), card=card)
    broken = broken_findings(dump, known.tables, known.day)
    planned = "installs" if works else "passes over"
    return Pair(
        PublicStatement(plan_address(target.slug, _SYSTEM), f"{planned} torch {torch}+{build} for {card}"),
        PublicStatement("/diagnose/", "; ".join(str(finding.title) for finding in broken) or "nothing is broken"),
        agrees=works is not bool(broken),
    )


def _newest(build: tuple[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return numbers(build[0]), numbers(build[1].removeprefix("rocm"))
