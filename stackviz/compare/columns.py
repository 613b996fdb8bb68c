"""Loaded subjects as columns of the stack diagram."""

from collections.abc import Sequence

from stackviz.catalog.models import Accelerator
from stackviz.compare.subjects import Loaded, describe
from stackviz.diagrams.boxes import Box, Column, sheet_column
from stackviz.diagrams.layers import Layer
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column


def columns_of(chosen: Sequence[Loaded]) -> list[Column]:
    """A column for each subject, in their order. The described stacks are read in one go."""
    described = described_columns({loaded.stack_slug for loaded in chosen if loaded.stack_slug})
    return [_column(loaded, described.get(loaded.stack_slug)) for loaded in chosen]


def _column(loaded: Loaded, described: Column | None) -> Column:
    key, title, subtitle, url = loaded.subject.name, loaded.title, describe(loaded), loaded.url
    base = described or Column(key, title, subtitle, url, ())
    if loaded.snapshot is not None:
        cards, findings = list(loaded.snapshot.cards.all()), list(loaded.snapshot.findings.all())
        return reported_column(key, title, subtitle, url, base, loaded.snapshot, cards, findings)
    if loaded.accelerator is not None:
        return sheet_column(key, title, subtitle, url, base, [_sheet_box(loaded.accelerator)])
    return Column(key, title, subtitle, url, base.boxes)


def _sheet_box(accelerator: Accelerator) -> Box:
    return Box(
        component="hardware",
        role="accelerator",
        layer=Layer.HARDWARE,
        name=accelerator.name,
        url=accelerator.get_absolute_url(),
    )
