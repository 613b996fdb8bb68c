"""Parameters of the API. The list's parser reads the filters; parameters it does not know are refused here."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import F
from django.db.models.expressions import OrderBy
from django.http import HttpRequest

from stackviz.pages.accelerators.list_filters import known_choices
from stackviz.pages.accelerators.list_query import ListQuery, read_list_query
from stackviz.records.catalog.conditions import KEYS, MAX_CONDITION_LENGTH, ConditionError, canonical
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.address import comma_separated
from stackviz.web.errors import Refusal

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
