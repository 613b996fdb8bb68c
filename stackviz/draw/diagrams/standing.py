"""Where one component stands in a stack: the layers with their components as chips, it and its neighbours marked.

Narrow, so that it fits a phone and stands beside text; the page names the neighbours in words. No ORM, no request.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from stackviz.draw.diagrams.boxes import Box, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.memory import Markup
from stackviz.draw.diagrams.svg_marks import (
    INK,
    INK_2,
    LINE,
    PAPER,
    Linked,
    Mark,
    Rect,
    Sketch,
    TextMark,
    svg_part,
)
from stackviz.draw.diagrams.text_width import Style, lines_of, width_of

WIDTH, LEFT, INSET = 344.0, 12.0, 8.0
CHIP, GAP, BAND, HEAD = 24.0, 6.0, 10.0, 18.0  # height of a chip, between chips, between layers, of a layer's name
LABEL, NAME, HERE = Style(11.5, bold=True), Style(12), Style(12, bold=True)
CALLS_IT, IS_CALLED, BOTH = "↓", "↳", "↕"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chip:
    """A component at its place. `relation`: one of the signs above, "" for no neighbour."""

    box: Box
    x: float
    y: float
    width: float
    is_here: bool
    relation: str

    @property
    def text(self) -> str:
        return f"{self.relation} {self.box.name}".strip()


def draw_standing(column: StackColumn, here: str, callers: Collection[str], callees: Collection[str]) -> Markup | None:
    """The picture as SVG for a page: the component `here`, by its slug, marked in its stack.

    `callers`, `callees`: addresses of what calls it and what it calls, which are signed and links. None where the stack
    draws neither the component nor any of these.
    """
    marks: list[Mark] = []
    has_sign = False
    y = 0.0
    for layer in Layer:
        boxes = [box for box in column.boxes if box.layer == layer and box.state != State.ABSENT]
        chips = list(_placed(boxes, here, callers, callees, y + HEAD))
        bottom = (chips[-1].y + CHIP) if chips else y + HEAD
        marks.append(Rect(x=0, y=y, width=4, height=bottom - y, fill=f"var(--l-{layer})"))
        marks.append(TextMark(x=LEFT, y=y + 12, text=layer.label, style=LABEL, fill=INK_2))
        marks += [mark for chip in chips for mark in _chip_marks(chip)]
        has_sign = has_sign or any(chip.is_here or chip.relation for chip in chips)
        y = bottom + BAND
    if not has_sign:
        return None
    return Markup(svg_part(Sketch(WIDTH, y - BAND, tuple(marks))))  # every text in it is escaped there


def _placed(
    boxes: Sequence[Box], here: str, callers: Collection[str], callees: Collection[str], top: float
) -> Iterator[_Chip]:
    """The chips of one layer, in lines."""
    x, y = LEFT, top
    for box in boxes:
        is_here = box.component == here
        chip = _Chip(
            box=box, x=x, y=y, width=0, is_here=is_here,
            relation="" if is_here else _relation(box.url, callers, callees),
        )  # fmt: skip
        width = min(width_of(chip.text, HERE if is_here else NAME) + 2 * INSET, WIDTH - LEFT)
        if x > LEFT and x + width > WIDTH:
            x, y = LEFT, y + CHIP + 4
        yield replace(chip, x=x, y=y, width=width)
        x += width + GAP


def _relation(url: str, callers: Collection[str], callees: Collection[str]) -> str:
    if url in callers:
        return BOTH if url in callees else CALLS_IT
    return IS_CALLED if url in callees else ""


def _chip_marks(chip: _Chip) -> Iterator[Mark]:
    style = HERE if chip.is_here else NAME
    edge = INK if chip.is_here or chip.relation else LINE
    ink = PAPER if chip.is_here else INK if chip.relation else INK_2
    (name,) = lines_of(chip.text, chip.width - 2 * INSET + 1, style, most=1) or [""]
    marks = (
        Rect(
            x=chip.x + 0.5,
            y=chip.y + 0.5,
            width=chip.width - 1,
            height=CHIP - 1,
            fill=INK if chip.is_here else PAPER,
            stroke=edge,
            radius=6,
        ),
        TextMark(x=chip.x + INSET, y=chip.y + 16, text=name, style=style, fill=ink),
    )
    if chip.relation:
        yield Linked(chip.box.url, marks)
    else:
        yield from marks
