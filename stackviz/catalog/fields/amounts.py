"""Printed values as amounts in base units, checked against the field they are of."""

import re
from datetime import date

from stackviz.catalog.fields.field import Field
from stackviz.units import to_si
from stackviz.units import unit as unit_named

__all__ = ["amount_of"]

_DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")


def amount_of(field: Field, value: str, unit: str) -> float | None:
    """A printed value in base units; None for text. Raises ValueError, in words, when the two do not fit the field."""
    if field.is_text:
        if unit:
            raise ValueError(f"{field.name} is text and has no unit, not {unit!r}")
        if field.is_date and not _is_date(value):
            raise ValueError(f"{field.name} is written 2022, 2022-10 or 2022-10-13, not {value!r}")
        return None
    if not unit:
        raise ValueError(f"{field.name} needs a unit, such as {field.unit}")
    try:
        number = float(value if value.isascii() and "_" not in value else "")  # Python reads ١２ and 1_000, nobody else
    except ValueError:
        raise ValueError(f"{field.name} is a number, not {value!r}") from None
    return _checked_amount(field, number, unit)


def _is_date(text: str) -> bool:
    """A year, a month or a day, as precise as the source says."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError:
        return False
    return True


def _checked_amount(field: Field, number: float, unit: str) -> float:
    try:
        amount = to_si(number, unit)
        scale = to_si(1.0, field.unit)
    except KeyError as error:
        raise ValueError(str(error)) from None
    if unit_named(unit).si != unit_named(field.unit).si:
        raise ValueError(f"{field.name} is measured in {field.unit}; {unit} measures something else")
    if amount < 0:
        raise ValueError(f"{field.name} cannot be negative")
    if not field.is_plausible(amount / scale):
        least, most = field.plausible or (0, 0)
        raise ValueError(f"{field.name} lies between {least:g} and {most:g} {field.unit}; {number:g} {unit} does not")
    return amount
