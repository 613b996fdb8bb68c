"""The row of a comparison on NVIDIA's driver: the branches that each sheet names."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.spec_table import MissingValue, SpecCell, SpecColumn, SpecRow
from stackviz.records.stacks.driver_words import SheetDrivers, sheet_drivers
from stackviz.records.stacks.rule_tables import rule_tables

GROUP = FIELDS["compute_capability"].group


def with_drivers(rows: Sequence[SpecRow], columns: Sequence[SpecColumn]) -> list[SpecRow]:
    """Add the row after those on software, where a sheet names a driver. One query, for the edition of the tables."""
    tables = rule_tables()
    drivers = [sheet_drivers(column.accelerator, tables) for column in columns]
    if not any(drivers):
        return list(rows)
    does_not_apply = MissingValue(reason="does_not_apply")
    row = SpecRow(
        field="nvidia_driver",
        title=_("NVIDIA driver"),
        unit="",
        condition="",
        better=None,
        cells=tuple(_cell(of_sheet) if of_sheet else None for of_sheet in drivers),
        meaning=_("The first and the last branch of the driver that serves it."),
        group=GROUP,
        missing=tuple(None if of_sheet else does_not_apply for of_sheet in drivers),
    )
    after = max((index + 1 for index, other in enumerate(rows) if other.group == GROUP), default=len(rows))
    return [*rows[:after], row, *rows[after:]]


def _cell(drivers: SheetDrivers) -> SpecCell:
    source = drivers.sources[0]
    return SpecCell(
        amount=None,
        text=drivers.words,
        exact=drivers.words,
        basis="published",
        source_title=source.title,
        source_url=source.url,
        note="",
    )
