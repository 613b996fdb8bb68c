"""The input of a diagram: boxes on layers, in columns. Plain data, no ORM, no request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from stackviz.base.light import light_dataclass
from stackviz.draw.colours import GREY, Hue
from stackviz.draw.diagrams.layers import Layer, State, role_title


@dataclass(frozen=True, slots=True)
class SourceLink:
    """Where something on a page is from: the title of the document, and its address."""

    title: str
    url: str


@dataclass(frozen=True)
class BoxNote:
    """One line under a box, from a finding or a requirement."""

    state: State
    text: str


@dataclass(frozen=True)
class BoxCounterpart:
    """The counterpart of a box on another stack, and what differs."""

    component: str
    name: str
    differs: str
    source: SourceLink | None = None


@light_dataclass(kw_only=True)
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
    source: SourceLink | None = None
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
    `text`: the required and the present version; `url`: its source or the rule. `need`: the required version alone, ""
    where a rule judged it.
    """

    source_component: str
    target_component: str
    state: State
    text: str
    url: str = ""
    need: str = ""


@dataclass(frozen=True, kw_only=True)
class Box:
    """One component in one column.

    `role`: boxes of one role share a row across columns; within a column they are alternatives. `summary` expands in
    place; `url`: the component's page. A box with state ABSENT represents a role without a component: its `name` and
    `url` are those of the component that does the job, "" if none does, its `summary` says how. A component that is
    `part_of` another is present when that one is. `cards`: indexes of the reported cards it represents. `since`,
    `until`: limits by release and architecture (`stacks.limits`), outside of which there is no such component.
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
    source: SourceLink | None = None
    counterparts: tuple[BoxCounterpart, ...] = ()
    part_of: str = ""
    install: str = ""
    requires: RequirementTable | None = None
    cards: tuple[int, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def role_title(self) -> str:
        return role_title(self.role)

    @property
    def has_more(self) -> bool:
        """Whether the box has details to expand."""
        return bool(self.summary or self.calls or self.see_version or self.install or self.requires)

    @property
    def is_gap(self) -> bool:
        """Whether it represents a role whose job nothing in the column does."""
        return self.state == State.ABSENT and not self.name


@dataclass(frozen=True, kw_only=True)
class StackColumn:
    """One compared subject. `key`: its name in addresses: `stack:apple-metal`, `machine:lab/name`, or a slug.

    `hue`: of the vendor of its accelerators. `links`: requirements between its boxes.
    """

    key: str
    title: str
    subtitle: str
    url: str
    boxes: tuple[Box, ...]
    hue: Hue = GREY
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


_Row = TypeVar("_Row")


def copy_with(row: _Row, **changes: Any) -> _Row:  # noqa: ANN401 - as `dataclasses.replace`
    """`dataclasses.replace` for dataclasses without slots or a `__post_init__`, in a sixth of its time.

    A drawing copies its boxes some 400 times. Raises TypeError for a field that there is not.
    """
    fields = row.__dict__
    if not changes.keys() <= fields.keys():
        raise TypeError(f"{type(row).__name__} has no {', '.join(sorted(changes.keys() - fields.keys()))}")
    copied: _Row = object.__new__(type(row))
    copied.__dict__.update(fields, **changes)
    return copied
