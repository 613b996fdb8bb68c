"""What goes into a diagram: boxes on layers, gathered in columns. Plain data, no ORM, no request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from stackviz.diagrams.layers import Layer, State
from stackviz.wire import cards_named


@dataclass(frozen=True)
class Note:
    """One line under a box: a requirement that holds or breaks, a remark."""

    state: State
    text: str


@dataclass(frozen=True)
class Counterpart:
    """What plays the box's role on another stack, and what differs. `component` is "" where there is none."""

    component: str
    name: str
    differs: str
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True, kw_only=True)
class Need:
    """One line of a box's requirement table: ships | cuDNN | 9.10.2 | linux, with what the machine `has`.

    `subject` is a component or a word of its own ("glibc"). `state`: what a rule said, DESCRIBED where none looked.
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
    is_brought: bool = False  # the release brings it along, the machine need not have it


@dataclass(frozen=True)
class NeedTable:
    """What one release of a box's component needs and brings. `more`: lines that stand on the component's page only.

    `is_newest`: nobody said which release it is, so the newest one known is shown.
    """

    release: str
    needs: tuple[Need, ...]
    more: int = 0
    is_newest: bool = False

    @property
    def compares(self) -> bool:
        """Whether there is a machine to hold it against."""
        return not self.is_newest


@dataclass(frozen=True)
class Link:
    """A requirement between two boxes of a column: the source needs the target.

    FITS it holds, WARNING or BROKEN it does not, UNKNOWN nobody can tell, DESCRIBED no machine was looked at.
    `text` says what is asked for and what is there; `url` leads to its source or to the rule.
    """

    source_component: str
    target_component: str
    state: State
    text: str
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Box:
    """One component in one column.

    `role` is the job it does: boxes of one role share a row across columns, and inside a column are alternatives.
    `summary` opens in place; `url` leads to the component's page. A box with state ABSENT stands for a component
    the stack does not have (`component` names which): its `summary` says what to know instead. A component that is
    `part_of` another is there when that one is. `cards`: the indexes of the reported cards it stands for.
    """

    component: str
    role: str
    layer: Layer
    name: str
    version: str = ""
    state: State = State.DESCRIBED
    summary: str = ""
    url: str = ""
    notes: tuple[Note, ...] = ()
    calls: tuple[str, ...] = ()
    see_version: str = ""
    source_title: str = ""
    source_url: str = ""
    counterparts: tuple[Counterpart, ...] = ()
    part_of: str = ""
    install: str = ""
    requires: NeedTable | None = None
    cards: tuple[int, ...] = ()

    @property
    def has_more(self) -> bool:
        """Whether there is anything to read once it is opened."""
        return bool(self.summary or self.calls or self.see_version or self.install or self.requires)


@dataclass(frozen=True, kw_only=True)
class Column:
    """One compared subject. `key` is its name in the address: `stack:apple-metal`, `machine:lab/name`, a slug.

    `number`: which of the six colours of subjects it has, from 1; 0: that of its place in the drawing.
    `links`: which of its boxes needs which other.
    """

    key: str
    title: str
    subtitle: str
    url: str
    boxes: tuple[Box, ...]
    number: int = 0
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Found:
    """A component a machine reported. `version` None: present, version not reported."""

    component: str
    version: str | None
    found_by: str


class FindingLike(Protocol):
    """What a column needs to know of a finding; `rules.Finding` and the stored one both fit."""

    @property
    def component(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def evidence(self) -> Mapping[str, str]: ...


# From the least to the most alarming; a box takes the worst of its findings.
SEVERITY_STATES = {
    "fits": State.FITS,
    "note": State.DESCRIBED,
    "cannot-tell": State.UNKNOWN,
    "warning": State.WARNING,
    "broken": State.BROKEN,
}
ALARMS = (State.FITS, State.WARNING, State.BROKEN)


def sheet_column(key: str, title: str, subtitle: str, url: str, described: Column, hardware: Sequence[Box]) -> Column:
    """A described stack standing on one accelerator: `hardware` replaces the described boxes of the same role.

    They stand where those stood. What they do not say is taken from the description of their component.
    """
    known = {box.component: box for box in described.boxes}
    own: dict[str, list[Box]] = {}
    for box in hardware:
        own.setdefault(box.role, []).append(_explained(box, known.get(box.component, box)))
    boxes: list[Box] = []
    replaced = set(own)
    # A link to a described box leads to the one that took its place.
    stands_for = {
        box.component: own[box.role][0].component if box.role in own else box.component for box in described.boxes
    }
    for box in described.boxes:
        if box.layer != Layer.HARDWARE or box.role not in replaced:
            boxes.append(box)
        else:
            boxes += own.pop(box.role, [])
    boxes += [box for group in own.values() for box in group]
    links = [replace(link, target_component=stands_for.get(link.target_component, "")) for link in described.links]
    return replace(
        described, key=key, title=title, subtitle=subtitle, url=url, boxes=tuple(boxes), number=0, links=tuple(links)
    )


def _explained(box: Box, described: Box) -> Box:
    return replace(
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
    described: Column,
    found: Sequence[Found],
    hardware: Sequence[Box],
    findings: Sequence[FindingLike],
) -> Column:
    """A described stack filled with what one machine reported.

    A role of which nothing was reported stays as one box "not reported"; of alternatives only the reported ones are
    kept. `hardware` replaces the described boxes of the same role. Findings colour the boxes of their component.
    """
    reported = {item.component: item for item in found}
    boxes = _keep_reported([_fill(box, reported) for box in described.boxes])
    column = sheet_column(key, title, subtitle, url, replace(described, boxes=tuple(boxes), links=()), hardware)
    return replace(column, boxes=tuple(_judge(box, findings) for box in column.boxes))


def _fill(box: Box, reported: Mapping[str, Found]) -> Box:
    if box.state == State.ABSENT:
        return box
    if box.component in reported:
        return replace(box, version=reported[box.component].version or "", state=State.REPORTED)
    return replace(box, version="", state=State.REPORTED if box.part_of in reported else State.UNKNOWN)


def _keep_reported(boxes: list[Box]) -> list[Box]:
    """Of the boxes sharing layer and role: the reported ones, or else one "not reported" box naming them all."""
    groups: dict[tuple[Layer, str], list[Box]] = {}
    for box in boxes:
        groups.setdefault((box.layer, box.role), []).append(box)
    kept: list[Box] = []
    for group in groups.values():
        known = [box for box in group if box.state != State.UNKNOWN]
        kept += known or [replace(group[0], name=" / ".join(box.name for box in group))]
    return kept


def _is_about(finding: FindingLike, box: Box) -> bool:
    """A finding that names cards is about their boxes alone."""
    if not finding.component or finding.component != box.component:
        return False
    named = cards_named(finding.evidence) if box.cards else frozenset()
    return not named or not named.isdisjoint(box.cards)


def _judge(box: Box, findings: Sequence[FindingLike]) -> Box:
    """The box with a note for each finding about it, in the worst state among them."""
    own = [finding for finding in findings if _is_about(finding, box)]
    if not own or box.state == State.ABSENT:
        return box
    notes = tuple(Note(SEVERITY_STATES.get(finding.severity, State.UNKNOWN), finding.title) for finding in own)
    worst = max((note.state for note in notes if note.state in ALARMS), key=ALARMS.index, default=box.state)
    return replace(box, state=worst, notes=(*box.notes, *notes))
