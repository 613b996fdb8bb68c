"""A sheet as a file: every public value with its unit, condition and source, and in JSON what follows from them."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse

from stackviz.base.units import UNITS
from stackviz.pages.accelerators.sheet import column_of_sheet, sheet_values
from stackviz.pages.accelerators.sheet_sources import SourceChoice
from stackviz.records.catalog.derived import Derived
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.web.address import write_moment
from stackviz.web.download import csv_response, json_response

FORMATS = ("csv", "json")
_COLUMNS = (
    "field", "title", "value", "unit", "amount", "amount_unit", "condition", "basis", "is_preferred", "source_title",
    "source_url", "source_read_as", "source_read_on", "note", "checked_at",
)  # fmt: skip


def sheet_file(
    accelerator: Accelerator, at: datetime | None, ending: str, address: str, choice: SourceChoice
) -> HttpResponse:
    """The present or a past sheet as a file in this format; `address` is its permanent one. Three queries.

    `choice`: of which sources its values are; derived figures stand in the file of all sources only.
    """
    values = [value for value in sheet_values(accelerator, at) if choice.has(value)]
    rank = {name: position for position, name in enumerate(FIELDS)}
    values.sort(key=lambda value: (rank[value.field], value.condition, not value.is_preferred, value.pk))
    name = accelerator.slug if at is None else f"{accelerator.slug}-{at:%Y%m%dT%H%M%SZ}"
    if ending == "csv":
        return csv_response(name, _COLUMNS, [tuple(_row(value).values()) for value in values])
    return json_response(name, _document(accelerator, values, at, address, choice))


def _row(value: SpecValue) -> dict[str, Any]:
    """One value: `value` as printed, `amount` in the SI base unit beside it, empty for text."""
    return dict(
        zip(
            _COLUMNS,
            (
                value.field,
                FIELDS[value.field].words[0],
                value.value,
                value.unit,
                value.amount,
                UNITS[value.unit].si if value.unit else "",
                value.condition,
                str(value.basis),
                value.is_preferred,
                value.source.title if value.source else "",
                value.source.url if value.source else "",
                value.source.read_as if value.source else "",
                f"{value.source.read_on:%Y-%m-%d}" if value.source and value.source.read_on else "",
                value.note,
                write_moment(value.checked_at) if value.checked_at else None,
            ),
            strict=True,
        )
    )


def _document(
    accelerator: Accelerator, values: list[SpecValue], at: datetime | None, address: str, choice: SourceChoice
) -> dict[str, Any]:
    derived = () if choice else column_of_sheet(accelerator, values, at).derived
    return {
        "slug": accelerator.slug,
        "name": accelerator.name,
        "vendor": accelerator.vendor.slug,
        "kind": str(accelerator.kind),
        "address": address,
        "at": write_moment(at) if at else None,
        "values": [_row(value) for value in values],
        "derived": [_derived(item) for item in derived],
    }


def _derived(item: Derived) -> dict[str, Any]:
    """A derived figure: `amount` in SI, null with a reason where it cannot be derived."""
    return {
        "name": item.name,
        "title": item.title,
        "amount": item.amount,
        "text": item.label,
        "formula": item.formula,
        "condition": item.condition,
        "inputs": [{"field": part.field, "condition": part.condition, "amount": part.amount} for part in item.inputs],
        "reason": item.reason,
    }
