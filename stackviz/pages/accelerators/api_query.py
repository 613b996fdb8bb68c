"""Parameters of the API. The list's parser reads the filters; parameters it does not know are refused here."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from django.db.models import F
from django.db.models.expressions import OrderBy
from django.http import HttpRequest
from ninja import Field as Described
from ninja import Schema
from pydantic import WithJsonSchema

from stackviz.pages.accelerators.list_filters import known_choices
from stackviz.pages.accelerators.list_query import (
    AVAILABILITY,
    FORMS,
    MOST_MEMORY_GB,
    MOST_POWER_W,
    MOST_PRICE_USD,
    SORTS,
    SUPPORTS,
    ListQuery,
    read_list_query,
)
from stackviz.records.catalog.conditions import KEYS, MAX_CONDITION_LENGTH, ConditionError, canonical
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import Accelerator, Source
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.http.address import LONGEST_TEXT, YEARS, comma_separated
from stackviz.web.http.errors import Refusal
from stackviz.web.http.openapi import none_or_one_of, whole_number_schema, written_as

TRUE, FALSE = ("1", "true", "yes"), ("", "0", "false", "no")
BOOLEANS = (*TRUE, *filter(None, FALSE))
VALUE_SORTS = ("accelerator", "amount", "-amount")


def _condition_pattern() -> str:
    """`key=value; key=value`, or nothing. That no key may stand there twice is left to the parser."""
    free = r"[A-Za-z0-9][^;=\s]*"
    parts = "|".join(f"{key.name}=({'|'.join(map(re.escape, key.values)) or free})" for key in KEYS)
    return f"^(({parts})(; ({parts}))*)?$"


CONDITION = {"type": "string", "pattern": _condition_pattern(), "maxLength": MAX_CONDITION_LENGTH}


def read_filters(request: HttpRequest, also: frozenset[str], without: tuple[str, ...] = ()) -> ListQuery:
    """Filters and sort order, as the list reads them. Raises Refusal for the first parameter that cannot be read."""
    parameters = request.GET.copy()
    if "cols" in parameters:
        raise Refusal(422, "the API has no columns; select fields with 'fields'", "cols")
    for name in without:
        parameters.pop(name, None)
    query = read_list_query(parameters, known_choices(public_catalogue()), also)
    for note in query.notes:
        raise Refusal(422, note.problem, note.parameter)
    return query if query.sort or query.q else replace(query, sort="name")


def field_names(given: list[str], parameter: str = "fields") -> frozenset[str]:
    """The field names given in a parameter. Raises Refusal for an unknown one."""
    names = comma_separated(given)
    for name in names:
        if name not in FIELDS:
            raise Refusal(422, f"unknown field {name[:40]!r}; /api/v1/fields/ lists them", parameter)
    return frozenset(names)


def is_true(text: str, parameter: str) -> bool:
    """Whether a boolean parameter is set. Raises Refusal for anything but 1, true, yes, 0, false, no or empty."""
    if text.casefold() not in (*TRUE, *FALSE):
        raise Refusal(422, f"{parameter} must be 1 or 0, not {text[:40]!r}", parameter)
    return text.casefold() in TRUE


def value_order(sort: str) -> tuple[str | OrderBy, ...]:
    """Sort order of values; texts, which have no amount, come last."""
    usual = ("accelerator__name", "accelerator", "field", "condition", "-is_preferred", "pk")
    if sort in ("", VALUE_SORTS[0]):
        return usual
    if sort.removeprefix("-") != "amount":
        raise Refusal(422, f"values can be sorted by accelerator or amount, not by {sort[:40]!r}", "sort")
    return OrderBy(F("amount"), descending=sort.startswith("-"), nulls_last=True), *usual


def read_condition(text: str) -> str:
    """The canonical text of a condition. Raises Refusal."""
    try:
        return canonical(text)
    except ConditionError as error:
        raise Refusal(422, error.problem, "condition") from None


def page_links(request: HttpRequest, count: int, limit: int, offset: int) -> dict[str, Any]:
    """`count`, `next` and `previous` of a page of rows."""
    return {
        "count": count,
        "next": _moved(request, {"limit": limit, "offset": offset + limit}) if offset + limit < count else None,
        "previous": _moved(request, {"limit": limit, "offset": max(0, offset - limit)}) if offset else None,
    }


def _moved(request: HttpRequest, window: Mapping[str, int]) -> str:
    query = request.GET.copy()
    for name, number in window.items():
        query[name] = str(number)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode(safe=',')}")


# --- What may be asked of the catalogue's API, for its document ---

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
    price_max: str = Described(
        "",
        description="at most this many USD at launch or in the street; rents do not count",
        json_schema_extra=written_as(type="number", exclusiveMinimum=0, maximum=MOST_PRICE_USD),
    )
    unknown: str = Described(
        "",
        description="1: accelerators without a published date, size or power, or a price, match the bounds too",
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
