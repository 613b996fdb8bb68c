"""Requirement tables of boxes and links between them, from the rules' tables and from findings.

Pure: rows and findings come in as arguments.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from django.utils.translation import gettext as _

from stackviz.draw.diagrams.boxes import (
    SEVERITY_STATES,
    Box,
    FindingLike,
    RequirementLine,
    RequirementLink,
    RequirementTable,
    SourceLink,
    StackColumn,
    copy_with,
)
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.records.stacks.models import Requirement as StoredRequirement
from stackviz.report.format import systems
from stackviz.report.rules import Requirement
from stackviz.report.rules.compatibility import newest_up_to
from stackviz.report.rules.registry import needs_of
from stackviz.report.rules.versions import numbers, same_line

MOST_NEEDS = 6  # in a box; the component's page lists all
CARDS = "hardware"
MOST_REMEMBERED = 2048  # releases of which one Demands remembers what they ask for; then it starts anew

# Subject of a requirement -> the box that satisfies it, where the names differ.
_SATISFIED_BY = {"compute-capability": "nvidia-gpu", "metal-family": "apple-gpu", "glibc": "linux"}
# These must be stated for the release itself; others hold until a newer release states otherwise.
_OF_THE_RELEASE = frozenset({"ships", "offers", "built-for", "compiles-for"})
# A package takes one release of these, and its next release another: a pin says nothing about later releases.
_PINNED = frozenset({"pytorch", "torchvision", "torchaudio", "triton"})
_LINKED = ("needs", "supports", "built-for")  # drawn between two boxes, the most binding first
_ORDER = ("needs", "ships", "supports", "built-for", "compiles-for", "offers")
_OF_A_GPU = frozenset({"compute-capability", "cuda-runtime", "cudnn"})  # irrelevant for a CPU-only build
_SAYS_NO_VERSION = frozenset({"yes", "no"})
_PLATFORMS = {
    "linux": ("", "linux", "linux-x86_64"),
    "windows": ("", "windows", "windows-x86_64"),
    "macos": ("", "macos", "macos-arm64"),
    "jetson": ("", "linux-aarch64"),  # its driver comes with Jetson Linux: no branch of the one for cards is needed
    "dgx-os": ("", "linux", "linux-aarch64"),
}
_ON_WSL = ("", "windows", "linux-x86_64")  # the driver is that of Windows, the wheels are those of Linux


class Demands(dict[str, list[Requirement]]):
    """Component -> its rows, the oldest release first. Not changed once it is filled: every drawing looks into it."""

    def __init__(self) -> None:
        super().__init__()
        self._stated: dict[tuple[str, tuple[str, ...], str], list[Requirement]] = {}

    def of_release(self, component: str, platforms: tuple[str, ...], release: str) -> list[Requirement]:
        """What this release asks for on these platforms: of each kind, the newest rows that are not newer than it."""
        key = (component, platforms, release)
        stated = self._stated.get(key)
        if stated is None:
            stated = _of_release(_on(self.get(component, ()), platforms), release)
            if len(self._stated) >= MOST_REMEMBERED:  # reports may name any release
                self._stated.clear()
            self._stated[key] = stated
        return stated


@dataclass(frozen=True, kw_only=True)
class DescribedColumn(StackColumn):
    """A described stack with the requirement tables of its components, to compare machines with."""

    demands: Demands = field(default_factory=Demands, compare=False, repr=False)

    def plain(self) -> StackColumn:
        """The column without the tables, as it is drawn and cached."""
        return StackColumn(**{item.name: getattr(self, item.name) for item in fields(StackColumn)})


class RuleFindingLike(FindingLike, Protocol):
    """A finding that also names its rule, which links need."""

    @property
    def rule(self) -> str: ...


def by_component(rows: Iterable[Requirement]) -> Demands:
    """Component -> its rows, the oldest release first, without those of low confidence."""
    grouped = Demands()
    for row in sorted(rows, key=lambda row: (numbers(row.version), row.key)):
        if row.confidence != "low" and row.values not in _SAYS_NO_VERSION:
            grouped.setdefault(row.component, []).append(row)
    return grouped


# --- a described stack: the newest release of everything ---


def described_needs(column: DescribedColumn, system: str) -> DescribedColumn:
    """The column with a requirement table in each box that has one, and links to the boxes that satisfy them."""
    platforms = _ON_WSL if column.key.endswith("wsl2") else _PLATFORMS.get(system, ("",))
    here = {box.component: box for box in column.boxes if box.state != State.ABSENT}
    boxes, links = [], []
    for box in column.boxes:
        rows = _on(column.demands.get(box.component, ()), platforms)
        if box.component not in here or not rows:
            boxes.append(box)
            continue
        newest = max((row.version for row in rows), key=numbers)
        stated = _of_release(rows, newest)
        boxes.append(copy_with(box, requires=_table(newest, stated, here, {}, (), is_newest=True)))
        links += _described_links(box, stated, here)
    return copy_with(column, boxes=tuple(boxes), links=tuple(links))


def _described_links(box: Box, rows: Sequence[Requirement], here: Mapping[str, Box]) -> list[RequirementLink]:
    """One link to each box that satisfies a requirement: the most binding one, of the newest variant the strictest."""
    links: dict[str, RequirementLink] = {}
    # Every library supports some compute capabilities; drawn only for the driver and for components with kernels.
    relations = [relation for relation in _LINKED if relation != "supports" or box.layer == Layer.DRIVER]
    for relation in relations:
        stated = [row for row in rows if row.relation == relation]
        for _index, row in sorted(enumerate(stated), key=lambda item: (numbers(item[1].low), item[0]), reverse=True):
            target = _SATISFIED_BY.get(row.subject, row.subject)
            if target in here and target not in (box.component, *links) and here[target].layer != Layer.APPLICATION:
                need = (
                    _how_much(row) if row.subject == target else f"{_subject_name(row.subject, here)} {_how_much(row)}"
                )
                links[target] = RequirementLink(
                    box.component, target, State.DESCRIBED, _demand(row, here), row.source.url, need
                )
    return list(links.values())


def _demand(row: Requirement, here: Mapping[str, Box]) -> str:
    words = {"other": _subject_name(row.subject, here), "much": _how_much(row)}
    if row.relation == "needs":
        return _("needs %(other)s %(much)s") % words
    if row.relation == "supports":
        return _("supports %(other)s %(much)s") % words
    return _("has code for %(other)s %(much)s") % words


# --- a machine: the releases it has ---


def reported_needs(
    column: StackColumn,
    demands: Demands,
    facts: Mapping[str, Any],
    capabilities: Sequence[str],
    findings: Sequence[RuleFindingLike],
    *,
    is_brief: bool = False,
) -> StackColumn:
    """The column with links from findings, and in each box the requirements of its release beside the machine.

    `is_brief`: of the requirements the release alone, where boxes lead to the page that shows them.
    """
    links = _finding_links(column, findings)
    names = {box.component: box for box in column.boxes if box.state != State.ABSENT}
    has = {box.component: box.version for box in names.values() if box.version}
    has |= {"compute-capability": " ".join(dict.fromkeys(capabilities)), **_systems(facts)}
    platforms = _platforms_of(facts)
    boxes = tuple(
        _with_table(box, demands, platforms, names=names, has=has, links=links, is_brief=is_brief)
        for box in column.boxes
    )
    return copy_with(column, boxes=boxes, links=links)


def _finding_links(column: StackColumn, findings: Sequence[RuleFindingLike]) -> tuple[RequirementLink, ...]:
    """A link for each finding of a rule that compares two components, if the column has both."""
    here = {box.component for box in column.boxes if box.state != State.ABSENT}
    links = []
    for finding in findings:
        source, target = needs_of(finding.rule) or ("", "")
        state = SEVERITY_STATES.get(finding.severity, State.UNKNOWN)
        if source in here and target in here:
            links.append(RequirementLink(source, target, state, finding.title))
    return tuple(links)


def _with_table(
    box: Box,
    demands: Demands,
    platforms: tuple[str, ...],
    names: Mapping[str, Box],
    has: Mapping[str, str],
    links: Sequence[RequirementLink],
    *,
    is_brief: bool,
) -> Box:
    if box.state == State.ABSENT:
        return box
    release = box.version if numbers(box.version) else ""
    stated = demands.of_release(box.component, platforms, release) if release else []
    if release.endswith("+cpu"):
        stated = [row for row in stated if row.subject not in _OF_A_GPU]
    outgoing = tuple(link for link in links if link.source_component == box.component)
    table = _table(release, stated, names, has, outgoing, is_brief=is_brief) if stated else None
    return copy_with(box, requires=table)


def _systems(facts: Mapping[str, Any]) -> dict[str, str]:
    """Subject -> version of what the machine has and no box represents."""
    libc = str(facts.get("os.libc") or "")
    system = systems.family(facts)
    versions = {"glibc": libc.removeprefix("glibc").strip() if libc.startswith("glibc") else ""}
    if system in ("macos", "windows"):
        versions[system] = str(facts.get("os.version") or "")
    return {name: version for name, version in versions.items() if version}


def _platforms_of(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """What a row of the tables may be for to hold here: everything, the driver's system, the wheel's platform."""
    platforms = ("", systems.driver_platform(facts), systems.wheel_platform(facts))
    return tuple(dict.fromkeys(platforms)) if systems.family(facts) else ("",)


# --- tables ---


def _on(rows: Iterable[Requirement], platforms: Sequence[str]) -> list[Requirement]:
    return [row for row in rows if row.platform in platforms]


def _of_release(rows: Sequence[Requirement], release: str) -> list[Requirement]:
    """The requirements of this release: of each kind, the newest that is not newer than the release."""
    if not rows or not release:
        return []
    kinds: dict[tuple[str, ...], list[Requirement]] = {}
    for row in rows:
        kinds.setdefault((row.relation, row.subject, row.part), []).append(row)
    stated = []
    for kind in kinds.values():
        newest = newest_up_to(kind, release)
        if newest and _is_of_the_release(newest[0]) and not same_line(release, newest[0].version):
            continue
        stated += _of_build(newest, release)
    stated.sort(key=lambda row: _ORDER.index(row.relation) if row.relation in _ORDER else len(_ORDER))
    return list({(row.relation, row.subject, row.low, row.values, *_apart(row)): row for row in stated}.values())


def _is_of_the_release(row: Requirement) -> bool:
    is_pin = row.relation == "needs" and row.subject in _PINNED and not row.low
    return is_pin or row.relation in _OF_THE_RELEASE


def _apart(row: Requirement) -> tuple[str, ...]:
    """The key that distinguishes requirements on the same subject; contents are the same in every wheel."""
    return () if row.relation in ("ships", "offers") else (row.part, row.variant)


def _of_build(rows: Sequence[Requirement], release: str) -> list[Requirement]:
    """The rows of the build that the release names ("2.14.0+cu130"), or all rows."""
    build = release.partition("+")[2]
    matching = [row for row in rows if row.variant == build] if build else []
    return matching or list(rows)


def _table(
    release: str,
    rows: Sequence[Requirement],
    names: Mapping[str, Box],
    has: Mapping[str, str],
    links: Sequence[RequirementLink],
    *,
    is_newest: bool = False,
    is_brief: bool = False,
) -> RequirementTable | None:
    """The first MOST_NEEDS lines of the table, none if it `is_brief`; None if there are none."""
    # Contents without a box in this stack are left out.
    shown = [row for row in rows if row.subject in names or row.relation not in ("ships", "offers")]
    if not shown:
        return None
    if is_brief:
        return RequirementTable(release, (), len(shown), is_newest)
    several = Counter((row.relation, row.subject, row.part) for row in rows)
    needs = [
        _need(row, names, has, links, has_variants=several[row.relation, row.subject, row.part] > 1) for row in shown
    ]
    needs = list(dict.fromkeys(needs))
    return RequirementTable(release, tuple(needs[:MOST_NEEDS]), max(0, len(needs) - MOST_NEEDS), is_newest)


def _need(
    row: Requirement,
    names: Mapping[str, Box],
    has: Mapping[str, str],
    links: Sequence[RequirementLink],
    *,
    has_variants: bool,
) -> RequirementLine:
    answered = {row.subject, _SATISFIED_BY.get(row.subject, row.subject)}
    if row.subject == "compute-capability":
        answered.add(CARDS)
    judged = [link.state for link in links if link.target_component in answered]
    return RequirementLine(
        relation=str(StoredRequirement.Relation(row.relation).label),
        subject=row.subject,
        name=_subject_name(row.subject, names),
        how_much=_how_much(row),
        where=" · ".join(filter(None, (row.part, row.variant if has_variants else ""))),
        has=has.get(row.subject, ""),
        state=judged[0] if judged and row.relation == "needs" else State.DESCRIBED,
        source=SourceLink(row.source.title, row.source.url),
        is_brought=row.relation in _OF_THE_RELEASE,
    )


def _subject_name(subject: str, names: Mapping[str, Box]) -> str:
    return names[subject].name if subject in names else subject.replace("-", " ")


def _how_much(row: Requirement) -> str:
    return row.values or f"≥ {row.low}"
