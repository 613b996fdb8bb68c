"""The input of a diagram: boxes on layers, in columns. Plain data, no ORM, no request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stackviz.diagrams.copies import copy_with
from stackviz.diagrams.layers import Layer, State
from stackviz.wire import cards_named


@dataclass(frozen=True)
class BoxNote:
    """One line under a box, from a finding or a requirement."""

    state: State
    text: str


@dataclass(frozen=True)
class BoxCounterpart:
    """The counterpart of a box on another stack, and what differs. `component` is "" where there is none."""

    component: str
    name: str
    differs: str
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True, kw_only=True)
class RequirementLine:
    """One line of a box's requirement table: ships | cuDNN | 9.10.2 | linux, with what the machine `has`.

    `subject`: a component or a keyword ("glibc"). `state`: the outcome of a rule, DESCRIBED where no rule checked it.
    """

    relation: str
    subject: str
    name: str
    how_much: str
    where: str = ""
    has: str = ""
    state: State = State.DESCRIBED
    source_title: str = ""
    source_url: str = ""
    is_brought: bool = False  # included in the release, so the machine need not have it


@dataclass(frozen=True)
class RequirementTable:
    """What one release of a component needs and includes. `more`: number of lines only on the component's page.

    `is_newest`: the release is unknown, so the newest one is shown.
    """

    release: str
    needs: tuple[RequirementLine, ...]
    more: int = 0
    is_newest: bool = False

    @property
    def compares(self) -> bool:
        """Whether the table is compared with a machine."""
        return not self.is_newest


@dataclass(frozen=True)
class RequirementLink:
    """A requirement between two boxes of a column: the source needs the target.

    `state`: FITS where it holds, WARNING or BROKEN where not, UNKNOWN where it is unknown, DESCRIBED without a machine.
    `text`: the required and the present version; `url`: its source or the rule.
    """

    source_component: str
    target_component: str
    state: State
    text: str
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Box:
    """One component in one column.

    `role`: boxes of one role share a row across columns; within a column they are alternatives. `summary` expands in
    place; `url`: the component's page. A box with state ABSENT represents a component that the stack does not have; its
    `summary` says what to know instead. A component that is `part_of` another is present when that one is. `cards`:
    indexes of the reported cards it represents.
    """

    component: str
    role: str
    layer: Layer
    name: str
    version: str = ""
    state: State = State.DESCRIBED
    summary: str = ""
    url: str = ""
    notes: tuple[BoxNote, ...] = ()
    calls: tuple[str, ...] = ()
    see_version: str = ""
    source_title: str = ""
    source_url: str = ""
    counterparts: tuple[BoxCounterpart, ...] = ()
    part_of: str = ""
    install: str = ""
    requires: RequirementTable | None = None
    cards: tuple[int, ...] = ()

    @property
    def has_more(self) -> bool:
        """Whether the box has details to expand."""
        return bool(self.summary or self.calls or self.see_version or self.install or self.requires)


@dataclass(frozen=True, kw_only=True)
class StackColumn:
    """One compared subject. `key`: its name in addresses: `stack:apple-metal`, `machine:lab/name`, or a slug.

    `number`: its colour of the six subject colours, from 1; 0: by its position in the drawing. `links`: requirements
    between its boxes.
    """

    key: str
    title: str
    subtitle: str
    url: str
    boxes: tuple[Box, ...]
    number: int = 0
    links: tuple[RequirementLink, ...] = ()


@dataclass(frozen=True)
class ReportedComponent:
    """A component that a machine reported. `version` None: present, version not reported."""

    component: str
    version: str | None
    found_by: str


class FindingLike(Protocol):
    """The attributes of a finding that a column uses; `rules.Finding` and the stored one have them."""

    @property
    def component(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def evidence(self) -> Mapping[str, str]: ...


# In order of severity; a box takes the worst state of its findings.
SEVERITY_STATES = {
    "fits": State.FITS,
    "note": State.DESCRIBED,
    "cannot-tell": State.UNKNOWN,
    "warning": State.WARNING,
    "broken": State.BROKEN,
}
ALARMS = (State.FITS, State.WARNING, State.BROKEN)


def sheet_column(
    key: str, title: str, subtitle: str, url: str, described: StackColumn, hardware: Sequence[Box]
) -> StackColumn:
    """A described stack on one accelerator: `hardware` replaces the described boxes of the same role, in place.

    Attributes missing in `hardware` are taken from the description of the component.
    """
    known = {box.component: box for box in described.boxes}
    by_role: dict[str, list[Box]] = {}
    for box in hardware:
        by_role.setdefault(box.role, []).append(_explained(box, known.get(box.component, box)))
    boxes: list[Box] = []
    replaced = set(by_role)
    # Links to a described box are redirected to the box that replaces it.
    stands_for = {
        box.component: by_role[box.role][0].component if box.role in by_role else box.component
        for box in described.boxes
    }
    for box in described.boxes:
        if box.layer != Layer.HARDWARE or box.role not in replaced:
            boxes.append(box)
        else:
            boxes += by_role.pop(box.role, [])
    boxes += [box for group in by_role.values() for box in group]
    links = [copy_with(link, target_component=stands_for.get(link.target_component, "")) for link in described.links]
    return copy_with(
        described, key=key, title=title, subtitle=subtitle, url=url, boxes=tuple(boxes), number=0, links=tuple(links)
    )


def _explained(box: Box, described: Box) -> Box:
    return copy_with(
        box,
        summary=box.summary or described.summary,
        url=box.url or described.url,
        see_version=box.see_version or described.see_version,
        source_title=box.source_title or described.source_title,
        source_url=box.source_url or described.source_url,
        counterparts=box.counterparts or described.counterparts,
        install=box.install or described.install,
    )


def machine_column(
    key: str,
    title: str,
    subtitle: str,
    url: str,
    described: StackColumn,
    components: Sequence[ReportedComponent],
    hardware: Sequence[Box],
    findings: Sequence[FindingLike],
) -> StackColumn:
    """A described stack with the reported components of one machine.

    A role without a reported component stays as one box "not reported"; of alternatives, only the reported ones
    stay. `hardware` replaces the described boxes of the same role. Findings set the state of their component's boxes.
    """
    reported = {item.component: item for item in components}
    boxes = _keep_reported([_fill(box, reported) for box in described.boxes])
    column = sheet_column(key, title, subtitle, url, copy_with(described, boxes=tuple(boxes), links=()), hardware)
    return copy_with(column, boxes=tuple(_judge(box, findings) for box in column.boxes))


def _fill(box: Box, reported: Mapping[str, ReportedComponent]) -> Box:
    if box.state == State.ABSENT:
        return box
    if box.component in reported:
        return copy_with(box, version=reported[box.component].version or "", state=State.REPORTED)
    return copy_with(box, version="", state=State.REPORTED if box.part_of in reported else State.UNKNOWN)


def _keep_reported(boxes: list[Box]) -> list[Box]:
    """For each layer and role the reported boxes, or else one "not reported" box that names all alternatives."""
    groups: dict[tuple[Layer, str], list[Box]] = {}
    for box in boxes:
        groups.setdefault((box.layer, box.role), []).append(box)
    remaining: list[Box] = []
    for group in groups.values():
        known = [box for box in group if box.state != State.UNKNOWN]
        remaining += known or [copy_with(group[0], name=" / ".join(box.name for box in group))]
    return remaining


def _is_about(finding: FindingLike, box: Box) -> bool:
    """Whether the finding is about this box; one that names cards is only about the boxes of these cards."""
    if not finding.component or finding.component != box.component:
        return False
    named = cards_named(finding.evidence) if box.cards else frozenset()
    return not named or not named.isdisjoint(box.cards)


def _judge(box: Box, findings: Sequence[FindingLike]) -> Box:
    """The box with a note for each finding about it, in the worst of their states."""
    relevant = [finding for finding in findings if _is_about(finding, box)]
    if not relevant or box.state == State.ABSENT:
        return box
    notes = tuple(BoxNote(SEVERITY_STATES.get(finding.severity, State.UNKNOWN), finding.title) for finding in relevant)
    worst = max((note.state for note in notes if note.state in ALARMS), key=ALARMS.index, default=box.state)
    return copy_with(box, state=worst, notes=(*box.notes, *notes))
