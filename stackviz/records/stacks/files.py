"""The curated files of components, stacks, counterparts, releases and requirements: read, checked and versioned.

    data/components.toml     what each component is and does
    data/stacks.toml         components of each stack, and which calls which
    data/counterparts.csv    component,other,relation,differs,source
    data/unfilled_roles.csv  stacks,role,done_by,explanation,source; several stacks are separated by a space
    data/sources.csv         key,title,url
    data/memory.toml         memory models (stacks/memory.py); data/terms.csv: equivalent terms
    rules/tables/*.csv       sources, releases, requirements: the only copy, shared with the agent

Pure: no database.
"""

import csv
import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from stackviz.draw.diagrams.layers import Layer
from stackviz.records.curated.rows import CuratedDataError
from stackviz.records.stacks.limits import is_limits, parse_limits
from stackviz.report.rules.compatibility import FILES as TABLES
from stackviz.report.rules.compatibility import packaged_rows

DATA = Path(__file__).resolve().parent / "data"
FILES = ("components.toml", "stacks.toml", "counterparts.csv", "unfilled_roles.csv", "sources.csv")
# Raise it when the loader interprets lines differently, so that unchanged files are loaded again.
LOADER_VERSION = 3
REQUIREMENT_KEY = ("component", "version", "variant", "platform", "relation", "subject", "part")

Line = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class StackFiles:
    """All lines as written. `placements`, `calls`, `tools` and `beside` are keyed by stack.

    A placement is (component, version, role, note); `tools` maps each tool to the components it reads; `since` and
    `until` map a component to its limits (`limits`).
    """

    version: str
    sources: list[Line]
    components: dict[str, dict[str, str]]
    stacks: dict[str, dict[str, Any]]
    placements: dict[str, list[tuple[str, str, str, str]]]
    calls: dict[str, list[tuple[str, str]]]
    tools: dict[str, dict[str, list[str]]]
    beside: dict[str, list[str]]
    since: dict[str, dict[str, str]]
    until: dict[str, dict[str, str]]
    counterparts: list[Line]
    unfilled_roles: list[Line]
    releases: Sequence[Line]
    requirements: Sequence[Line]
    problems: list[str] = field(default_factory=list)


def stacks_data_version(folder: Path = DATA) -> str:
    """Changes with any byte of the files and with LOADER_VERSION."""
    digest = hashlib.sha256(f"loader {LOADER_VERSION}".encode())
    for name in FILES:
        digest.update((folder / name).read_bytes())
    for name in TABLES:
        digest.update((resources.files("stackviz.report.rules") / "tables" / name).read_bytes())
    return digest.hexdigest()


def read_stack_files(folder: Path = DATA) -> StackFiles:
    """All files. Raises CuratedDataError with every problem."""
    stacks = _toml(folder / "stacks.toml")
    files = StackFiles(
        version=stacks_data_version(folder),
        sources=source_lines(folder),
        components=_toml(folder / "components.toml"),
        stacks=stacks,
        placements={slug: [_placement(text) for text in stack["places"]] for slug, stack in stacks.items()},
        calls={slug: list(_calls(stack["calls"])) for slug, stack in stacks.items()},
        tools={slug: _tools(stack.get("tools", [])) for slug, stack in stacks.items()},
        beside={slug: list(stack.get("beside", [])) for slug, stack in stacks.items()},
        since={slug: _limits(stack.get("since", [])) for slug, stack in stacks.items()},
        until={slug: _limits(stack.get("until", [])) for slug, stack in stacks.items()},
        counterparts=_csv(folder / "counterparts.csv"),
        unfilled_roles=_csv(folder / "unfilled_roles.csv"),
        releases=packaged_rows("releases.csv"),
        requirements=packaged_rows("requirements.csv"),
    )
    problems = [problem for check in CHECKS for problem in check(files)]
    if problems:
        raise CuratedDataError(problems)
    return files


def source_lines(folder: Path = DATA) -> list[Line]:
    """The sources that lines of these files may cite: those of this folder and of the rules' tables."""
    return [*_csv(folder / "sources.csv"), *packaged_rows("sources.csv")]


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _csv(path: Path) -> list[Line]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _placement(text: str) -> tuple[str, str, str, str]:
    """Parse `component | version | role | note`; the last three are optional."""
    parts = [part.strip() for part in text.split("|")]
    component, version, role, note = (*parts, "", "", "")[:4]
    return component, version, role, note


def _calls(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Parse `caller -> callee, callee`."""
    for line in lines:
        caller, _, callees = line.partition("->")
        for callee in callees.split(","):
            yield caller.strip(), callee.strip()


def _tools(lines: Iterable[str]) -> dict[str, list[str]]:
    """Parse `tool -> component, component`."""
    reads: dict[str, list[str]] = {}
    for tool, read in _calls(lines):
        reads.setdefault(tool, []).append(read)
    return reads


def _limits(lines: Iterable[str]) -> dict[str, str]:
    """Parse `component, component -> limits`; several lines on one component are joined."""
    limits: dict[str, str] = {}
    for line in lines:
        components, _, text = line.partition("->")
        for component in components.split(","):
            name = component.strip()
            limits[name] = ", ".join(filter(None, (limits.get(name, ""), text.strip())))
    return limits


# --- checks ---


def _check_sources(files: StackFiles) -> Iterator[str]:
    keys: dict[str, Line] = {}
    pairs: dict[tuple[str, str], str] = {}
    for line in files.sources:
        if line["key"] in keys:
            yield f"sources: {line['key']} is listed twice"
        if other := pairs.get((line["title"], line["url"])):
            yield f"sources: {line['key']} says the same as {other}"
        keys[line["key"]] = line
        pairs[line["title"], line["url"]] = line["key"]
        if not line["url"].startswith("https://"):
            yield f"sources: {line['key']} has no web address"
    named = [
        *((f"components.toml: {slug}", line["source"]) for slug, line in files.components.items()),
        *((f"counterparts.csv: {line['component']}", line["source"]) for line in files.counterparts),
        *((f"unfilled_roles.csv: {line['role']}", line["source"]) for line in files.unfilled_roles),
        *((f"releases.csv: {line['component']} {line['version']}", line["source"]) for line in files.releases),
        *((f"requirements.csv: {line['component']} {line['version']}", line["source"]) for line in files.requirements),
    ]
    yield from (f"{where}: no source is called {key}" for where, key in named if key not in keys)


def _check_components(files: StackFiles) -> Iterator[str]:
    for slug, line in files.components.items():
        if line["layer"] not in set(Layer):
            yield f"components.toml: {slug} is on the unknown layer {line['layer']}"
        if line.get("part_of", slug) not in files.components:
            yield f"components.toml: {slug} is part of the unknown {line['part_of']}"
        for sentence in ("is", "does"):
            if not line.get(sentence, "").endswith("."):
                yield f"components.toml: {slug}: {sentence!r} is not a sentence"


def _check_stacks(files: StackFiles) -> Iterator[str]:
    for stack, placements in files.placements.items():
        standing = [component for component, *_ in placements]
        for component in standing:
            if component not in files.components:
                yield f"stacks.toml: {stack} holds the unknown component {component}"
        if len(set(standing)) < len(standing):
            yield f"stacks.toml: {stack} holds a component twice"
        layers = {files.components[slug]["layer"] for slug in standing if slug in files.components}
        yield from (f"stacks.toml: {stack} has nothing on the layer {layer}" for layer in Layer if layer not in layers)
        for caller, callee in files.calls[stack]:
            yield from (
                f"stacks.toml: in {stack} {caller} calls {callee}, but {slug} does not stand there"
                for slug in (caller, callee)
                if slug not in standing
            )


def _check_tools(files: StackFiles) -> Iterator[str]:
    for stack, placements in files.placements.items():
        standing = {component for component, *_ in placements}
        around = [*files.tools[stack], *files.beside[stack]]
        for slug in around:
            if slug not in files.components:
                yield f"stacks.toml: {stack} has the unknown component {slug} beside it"
            if slug in standing or around.count(slug) > 1:
                yield f"stacks.toml: {stack} holds {slug} twice"
        yield from (
            f"stacks.toml: in {stack} {tool} reads {slug}, but {slug} does not stand there"
            for tool, read in files.tools[stack].items()
            for slug in read
            if slug not in standing
        )


def _check_limits(files: StackFiles) -> Iterator[str]:
    for bound, by_stack in (("since", files.since), ("until", files.until)):
        for stack, limits in by_stack.items():
            standing = {component for component, *_ in files.placements[stack]}
            for component, text in limits.items():
                if component not in standing:
                    yield f"stacks.toml: {stack} says {bound} when of {component}, but {component} does not stand there"
                if not is_limits(text):
                    yield f"stacks.toml: in {stack} {component} is {bound} {text!r}: write a component and a release"
                    continue
                unknown = [subject for subject, _release in parse_limits(text) if subject not in files.components]
                yield from (
                    f"stacks.toml: in {stack} {component} is there {bound} a release of the unknown {subject}"
                    for subject in unknown
                )


def _check_counterparts(files: StackFiles) -> Iterator[str]:
    seen: set[frozenset[str]] = set()
    for line in files.counterparts:
        pair = frozenset((line["component"], line["other"]))
        if pair in seen:
            yield f"counterparts.csv: {' and '.join(sorted(pair))} are listed twice"
        seen.add(pair)
        yield from (f"counterparts.csv: unknown component {slug}" for slug in sorted(pair - files.components.keys()))


def _check_unfilled_roles(files: StackFiles) -> Iterator[str]:
    """Each stack fills each role that is drawn, or has one line on who does its job there."""
    usual = {slug: line["role"] for slug, line in files.components.items()}
    filled = {
        stack: {role or usual.get(slug, "") for slug, _version, role, _note in placed}
        for stack, placed in files.placements.items()
    }
    explained: dict[str, set[str]] = {stack: set() for stack in files.stacks}
    for line in files.unfilled_roles:
        for stack in line["stacks"].split():
            where = f"unfilled_roles.csv: {line['role']} in {stack}"
            if stack not in files.stacks:
                yield f"{where}: unknown stack"
                continue
            if line["role"] in filled[stack]:
                yield f"{where}: a component has this role"
            if line["role"] in explained[stack]:
                yield f"{where} is listed twice"
            if line["done_by"] and line["done_by"] not in {slug for slug, *_ in files.placements[stack]}:
                yield f"{where}: the stack has no {line['done_by']}"
            explained[stack].add(line["role"])
    drawn = set().union(*filled.values())
    for stack, roles in filled.items():
        missing = sorted(drawn - roles - explained[stack])
        yield from (f"unfilled_roles.csv: who does {role} in {stack}?" for role in missing)


def _check_tables(files: StackFiles) -> Iterator[str]:
    releases = [(line["component"], line["version"], line["variant"]) for line in files.releases]
    yield from (f"releases.csv: {key} is listed twice" for key in _twice(releases))
    keys = [tuple(line[name] for name in REQUIREMENT_KEY) for line in files.requirements]
    yield from (f"requirements.csv: {key} is listed twice" for key in _twice(keys))
    known = set(releases)
    for line in files.requirements:
        if (line["component"], line["version"], line["variant"]) not in known:
            yield f"requirements.csv: no release {line['component']} {line['version']} {line['variant']}"
        if not (line["low"] or line["values"]):
            yield f"requirements.csv: {line['component']} {line['version']} {line['subject']}: how much?"
    yield from (
        f"releases.csv: unknown component {component}"
        for component in {key[0] for key in releases} - files.components.keys()
    )


def _twice(keys: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    seen: set[tuple[str, ...]] = set()
    return [key for key in keys if key in seen or seen.add(key)]  # type: ignore[func-returns-value]


CHECKS = (
    _check_sources,
    _check_components,
    _check_stacks,
    _check_tools,
    _check_limits,
    _check_counterparts,
    _check_unfilled_roles,
    _check_tables,
)
