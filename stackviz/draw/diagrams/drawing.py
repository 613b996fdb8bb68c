"""A laid-out diagram: layers, rows, cells, boxes, links, and the same in sentences. Plain data.

Libraries. NVIDIA CUDA on Linux: cuDNN 9.26 (fits), NCCL. Apple Metal on macOS: MPSGraph; collectives: none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from stackviz.base.light import light_dataclass
from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, StackColumn
from stackviz.draw.diagrams.layers import Layer, State


@dataclass(frozen=True)
class BoxLine:
    """A line under a box: a finding, or what the box needs."""

    state: State
    text: str

    @property
    def lead(self) -> str:
        """The label before the text, "" where the text starts with it."""
        label = self.state.outcome
        return "" if self.text.casefold().startswith(label.casefold()) else label


@light_dataclass()
class Placed:
    """A box in its cell, with its counterparts in the same row of the drawing.

    `key` names the end of a link, "" for a box without one; `lines` is all that is written under the box. `is_repeat`:
    it is explained in another column of its row, so that it leads to its page instead.
    """

    box: Box
    against: tuple[BoxCounterpart, ...]
    key: str = ""
    lines: tuple[BoxLine, ...] = ()
    is_repeat: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnLink:
    """A link as a bracket beside its column, between two boxes.

    `top` and `bottom`: keys of boxes; the arrow points to the bottom one, with `is_up` to the top one. `differs`: both
    ends are in rows that differ, so that the view of differences shows it too.
    """

    column: int
    top: str
    bottom: str
    is_up: bool
    lane: int
    state: State
    differs: bool


@light_dataclass(kw_only=True)
class RoleCell:
    """One column's part of a row. Without boxes, `missing` says so, and `instead` what to know, if anything.

    `is_gap`: nothing in the column does this job, while a component of another column does. `only_in`: the one
    framework of several that does it, for its own programs.
    """

    column: StackColumn
    placed: tuple[Placed, ...]
    missing: str = ""
    instead: str = ""
    is_gap: bool = False
    only_in: str = ""


@light_dataclass()
class RoleRow:
    """One role across all columns. `differs`: the columns disagree.

    `is_alike`: all cells are equal, so that a narrow screen shows one for all.
    """

    role: str
    title: str
    cells: tuple[RoleCell, ...]
    differs: bool

    @property
    def is_alike(self) -> bool:
        shown = {
            tuple((placed.box.component, placed.box.version, placed.box.state, placed.lines) for placed in cell.placed)
            for cell in self.cells
        }
        return len(self.cells) > 1 and len(shown) == 1


@dataclass(frozen=True)
class LayerRows:
    """One layer with its rows, at least one. `same`: names of the equal rows, for the view of differences."""

    layer: Layer
    title: str
    rows: tuple[RoleRow, ...]
    differing: tuple[RoleRow, ...]
    same: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return bool(self.differing)


@dataclass(frozen=True)
class LayerSentences:
    """A layer in sentences: one for each column, then its findings and requirements."""

    layer: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class StackDrawing:
    """A whole diagram, rendered by `diagrams/_stack.jinja`. `lanes`: number of lanes of each column."""

    columns: tuple[StackColumn, ...]
    layers: tuple[LayerRows, ...]
    links: tuple[DrawnLink, ...] = ()
    lanes: tuple[int, ...] = ()

    @property
    def is_several(self) -> bool:
        return len(self.columns) > 1

    @property
    def row_count(self) -> int:
        return sum(len(layer.rows) for layer in self.layers)

    @property
    def differing_count(self) -> int:
        return sum(len(layer.differing) for layer in self.layers)

    @cached_property
    def layer_sentences(self) -> tuple[LayerSentences, ...]:
        """The layers in sentences, top to bottom: for screen readers, and to quote."""
        labels: dict[State, str] = {state: state.label for state in State if state is not State.DESCRIBED}
        return tuple(
            LayerSentences(layer.title, tuple(_sentences(self.columns, layer, labels))) for layer in self.layers
        )

    @property
    def in_words(self) -> str:
        """All of it in one paragraph, for who cannot see it."""
        return " ".join(f"{part.layer}. {' '.join(part.sentences)}" for part in self.layer_sentences)


def _sentences(columns: tuple[StackColumn, ...], layer: LayerRows, labels: Mapping[State, str]) -> Iterator[str]:
    several = len(columns) > 1
    for index, column in enumerate(columns):
        cells = [row.cells[index] for row in layer.rows]
        parts = [", ".join(_called(placed.box, labels) for placed in cell.placed) for cell in cells if cell.placed]
        parts += [
            f"{row.title or layer.title}: {row.cells[index].missing}" for row in layer.rows if row.cells[index].instead
        ]
        text = "; ".join(dict.fromkeys(parts)) or _("not described")
        yield _ended(f"{column.title}: {text}" if several else text)
        for placed in (placed for cell in cells for placed in cell.placed):
            for line in placed.lines:
                lead = f"{line.lead}: " if line.lead else "" if line.state.outcome else f"{placed.box.name} "
                yield _ended(lead + line.text)


def _called(box: Box, labels: Mapping[State, str]) -> str:
    label = labels.get(box.state, "")
    return " ".join(filter(None, (box.name, box.version, f"({label})" if label else "")))


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
