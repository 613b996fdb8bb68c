"""Loaded subjects as columns of the stack diagram."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from stackviz.catalog.models import Accelerator
from stackviz.compare.selection import Kind
from stackviz.compare.subjects import Loaded, describe
from stackviz.diagrams.boxes import Box, Column, sheet_column
from stackviz.diagrams.layers import Layer
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to draw. `undescribed`: titles of the sheets for whose maker no stack is described."""

    drawn: tuple[Column, ...]
    undescribed: tuple[str, ...]


def columns_of(chosen: Sequence[Loaded], *, with_differences: bool = True) -> Columns:
    """A column for each stack and machine, and one for all sheets of the same described stack, in their order.

    A column has the colour of its first subject. `with_differences`: boxes say how they differ from their counterparts.
    The described stacks are read in one go.
    """
    described = described_columns({loaded.stack_slug for loaded in chosen if loaded.stack_slug})
    together: dict[str, list[int]] = {}
    for place, loaded in enumerate(chosen):
        together.setdefault(_shared(loaded), []).append(place)
    drawn = [
        _column([chosen[place] for place in places], described.get(chosen[places[0]].stack_slug), places[0] + 1)
        for key, places in together.items()
        if key
    ]
    if not with_differences:
        drawn = [
            replace(column, boxes=tuple(replace(box, counterparts=()) for box in column.boxes)) for column in drawn
        ]
    return Columns(tuple(drawn), tuple(chosen[place].title for place in together.get("", [])))


def _shared(loaded: Loaded) -> str:
    """What the subjects of one column have in common; "" for a sheet that no described stack stands on."""
    if loaded.subject.kind is Kind.ACCELERATOR:
        return f"sheets on {loaded.stack_slug}" if loaded.stack_slug else ""
    return loaded.subject.name


def _column(subjects: Sequence[Loaded], described: Column | None, number: int) -> Column:
    loaded = subjects[0]
    key, title, subtitle, url = loaded.subject.name, loaded.title, describe(loaded), loaded.url
    base = described or Column(key, title, subtitle, url, ())
    if loaded.snapshot is not None:
        cards, findings = list(loaded.snapshot.cards.all()), list(loaded.snapshot.findings.all())
        column = reported_column(key, title, subtitle, url, base, loaded.snapshot, cards, findings)
        return replace(column, number=number)
    if len(subjects) > 1:
        title = ", ".join(subject.title for subject in subjects)
        subtitle, url = _("on %(stack)s as described") % {"stack": base.title}, base.url
    hardware = [_sheet_box(subject.accelerator) for subject in subjects if subject.accelerator is not None]
    if hardware:
        return replace(sheet_column(key, title, subtitle, url, base, hardware), number=number)
    return replace(base, key=key, title=title, subtitle=subtitle, url=url, number=number)


def _sheet_box(accelerator: Accelerator) -> Box:
    return Box(
        component="hardware",
        role="accelerator",
        layer=Layer.HARDWARE,
        name=accelerator.name,
        url=accelerator.get_absolute_url(),
    )
