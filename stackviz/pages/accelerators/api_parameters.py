"""What may be asked of the catalogue's API, for its document. The parser that the list shares reads the filters."""

from typing import Annotated

from ninja import Field as Described
from ninja import Schema
from pydantic import WithJsonSchema

from stackviz.pages.accelerators.api_query import BOOLEANS, CONDITION, VALUE_SORTS
from stackviz.pages.accelerators.list_query import AVAILABILITY, FORMS, MOST_MEMORY_GB, MOST_POWER_W, SORTS, SUPPORTS
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Source
from stackviz.web.address import LONGEST_TEXT, YEARS
from stackviz.web.openapi import none_or_one_of, whole_number_schema, written_as

MOST_ROWS = 1000
FARTHEST = 100_000  # rows skipped: the database reads every one of them

YEAR = whole_number_schema(YEARS[0], YEARS[-1])
FieldName = Annotated[str, WithJsonSchema(none_or_one_of(FIELDS))]
KindName = Annotated[str, WithJsonSchema(none_or_one_of(Accelerator.Kind.values))]
FormName = Annotated[str, WithJsonSchema(none_or_one_of(FORMS))]
Availability = Annotated[str, WithJsonSchema(none_or_one_of(AVAILABILITY))]
Supported = Annotated[str, WithJsonSchema(none_or_one_of(SUPPORTS))]


class PageParameters(Schema):
    limit: int = Described(100, ge=1, le=MOST_ROWS, description="maximum number of items")
    offset: int = Described(0, ge=0, le=FARTHEST, description="number of items to skip")


class Filters(PageParameters):
    """The filters of /accelerators/. Several values: the parameter several times, or once with commas."""

    q: str = Described(
        "",
        description="text in a name, or a name that a card, a Mac or a tool reports",
        json_schema_extra={"maxLength": LONGEST_TEXT},
    )
    vendor: list[str] = Described([], description="slugs of vendors with a public accelerator, such as nvidia")
    architecture: list[str] = Described([], description="of a public accelerator, such as Hopper")
    kind: list[KindName] = Described([], description="any of these")
    form: list[FormName] = Described([], description="any of these")
    availability: list[Availability] = Described(
        [], description="any of these; one without a published date counts as released"
    )
    supports: list[Supported] = Described(
        [], description="all of these: by a published rate that is not zero, or by compute capability (NVIDIA)"
    )
    year_from: str = Described("", description="released in this year or later", json_schema_extra=YEAR)
    year_to: str = Described("", description="released in this year or earlier", json_schema_extra=YEAR)
    memory_min: str = Described(
        "",
        description="at least this many GB of memory",
        json_schema_extra=written_as(type="number", exclusiveMinimum=0, maximum=MOST_MEMORY_GB),
    )
    power_max: str = Described(
        "",
        description="at most this many W of board power",
        json_schema_extra=written_as(type="number", exclusiveMinimum=0, maximum=MOST_POWER_W),
    )
    unknown: str = Described(
        "",
        description="1: accelerators without a published date, size or power match the bounds too",
        json_schema_extra=none_or_one_of(["1"]),
    )


class ListParameters(Filters):
    sort: str = Described(
        "",
        description="name, vendor, kind or a field; -tdp_w: descending",
        json_schema_extra=none_or_one_of(f"{sign}{key}" for key in sorted(SORTS) for sign in ("", "-")),
    )
    fields_: list[FieldName] = Described(
        [], alias="fields", description="names of fields, repeated or comma-separated: include only their values"
    )


class SheetParameters(Schema):
    fields_: list[FieldName] = Described(
        [], alias="fields", description="names of fields, repeated or comma-separated: include only their values"
    )
    alternatives: str = Described(
        "", description="1: include values of other sources", json_schema_extra=none_or_one_of(BOOLEANS)
    )
    at: str = Described(
        "",
        description="2026-11-20 or 2026-11-20T16:00:00Z: as of this moment, which is past",
        json_schema_extra=written_as(anyOf=[{"const": ""}, {"format": "date"}, {"format": "date-time"}]),
    )


class ValueParameters(Filters):
    field: list[FieldName] = Described([], description="names of fields, repeated or comma-separated")
    condition: str | None = Described(
        None,
        description="sparsity=dense; empty: values without a condition",
        json_schema_extra=written_as(anyOf=[CONDITION]),
    )
    alternatives: str = Described(
        "", description="1: include values of other sources", json_schema_extra=none_or_one_of(BOOLEANS)
    )
    sort: str = Described(
        "",
        description="amount or -amount, texts last; by accelerator if not given",
        json_schema_extra=none_or_one_of(VALUE_SORTS),
    )


class SourceParameters(PageParameters):
    q: str = Described("", description="text in the title or the address")
    kind: str = Described("", description="who published it", json_schema_extra=none_or_one_of(Source.Kind.values))
    read_as: str = Described("", description="how it was read", json_schema_extra=none_or_one_of(Source.Reading.values))
