"""A laid-out diagram: layers, rows, cells, boxes, the links beside them, and the same in sentences. Plain data."""

from dataclasses import dataclass

from stackviz.diagrams.boxes import Box, Column, Counterpart
from stackviz.diagrams.layers import Layer, State


@dataclass(frozen=True)
class Said:
    """A line under a box: what a rule says of it, or what it needs."""

    state: State
    text: str

    @property
    def lead(self) -> str:
        """The word before it, where the text does not begin with it itself."""
        word = self.state.verdict
        return "" if self.text.casefold().startswith(word.casefold()) else word


@dataclass(frozen=True)
class Placed:
    """A box in its cell, with the counterparts that stand in the same row of this drawing.

    `key` names the end of a link, "" for a box without one; `says` is all that is written under the box. `is_repeat`:
    it is explained in another column of its row, so that it leads to its page instead.
    """

    box: Box
    against: tuple[Counterpart, ...]
    key: str = ""
    says: tuple[Said, ...] = ()
    is_repeat: bool = False


@dataclass(frozen=True, kw_only=True)
class DrawnLink:
    """A link as a bracket beside its column: between two boxes, on a lane of its own or that of the like.

    `top` and `bottom` are keys of boxes; the arrow points to the bottom one, or with `is_up` to the top one.
    `differs`: both ends stand in rows that differ, so that the folded view shows it too.
    """

    column: int
    top: str
    bottom: str
    is_up: bool
    lane: int
    state: State
    differs: bool


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One column's part of a row. Without boxes, `missing` says so and `instead` what to know, if anything.

    `is_gap`: the column has nothing that does this job, where another has; what it has in another row is no gap.
    """

    column: Column
    number: int
    placed: tuple[Placed, ...]
    missing: str = ""
    instead: str = ""
    is_gap: bool = False


@dataclass(frozen=True)
class Row:
    """One role across all columns. `differs`: the columns do not say the same here.

    `is_alike`: they say the very same, so that on a narrow screen one cell stands for all.
    """

    role: str
    title: str
    cells: tuple[Cell, ...]
    differs: bool

    @property
    def is_alike(self) -> bool:
        shown = {
            tuple((placed.box.component, placed.box.version, placed.box.state, placed.says) for placed in cell.placed)
            for cell in self.cells
        }
        return len(self.cells) > 1 and len(shown) == 1


@dataclass(frozen=True)
class LayerRows:
    """One layer with its rows, at least one. `same`: names of what is equal in all columns, for the folded view."""

    layer: Layer
    title: str
    rows: tuple[Row, ...]
    differing: tuple[Row, ...]
    same: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return bool(self.differing)


@dataclass(frozen=True)
class Spoken:
    """A layer in sentences: one for each column, and those that say what holds and what breaks."""

    layer: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Drawing:
    """A whole diagram, ready to be written down by `diagrams/_stack.html`. `lanes`: how many each column has."""

    columns: tuple[Column, ...]
    layers: tuple[LayerRows, ...]
    links: tuple[DrawnLink, ...] = ()
    lanes: tuple[int, ...] = ()
    spoken: tuple[Spoken, ...] = ()

    @property
    def is_several(self) -> bool:
        return len(self.columns) > 1

    @property
    def row_count(self) -> int:
        return sum(len(layer.rows) for layer in self.layers)

    @property
    def differing_count(self) -> int:
        return sum(len(layer.differing) for layer in self.layers)
