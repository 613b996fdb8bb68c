"""The date of release as an axis of years."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from stackviz.pages.explore.measures import Axis, AxisFigure, Measure
from stackviz.records.catalog.announced import PLANNED
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import condition_rank
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import PublicCatalogue

RELEASED = "released"
DATE = "release_date"
YEAR = "year"  # its base unit


def first_date(dates: Iterable[SpecValue]) -> SpecValue | None:
    """The date the list shows: could be bought before announced. None of what is planned alone."""
    field = FIELDS[DATE]
    dated = [date for date in dates if _is_year(date.value[:4]) and date.condition != PLANNED]
    return min(dated, key=lambda date: (condition_rank(field, date.condition), date.value), default=None)


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and digits.isascii() and digits.isdecimal()


def released_axis(catalogue: PublicCatalogue) -> Axis:
    """When each accelerator came out. Earlier counts as better: the front is then those that led when they came out."""
    measure = Measure(
        name=RELEASED,
        title=_("Released"),
        meaning=_("The day it could be bought, else that it was announced."),
        unit="",
        si=YEAR,
        factor=1.0,
        better=False,
    )
    dates = {item.pk: first_date(catalogue.preferred(item.pk, DATE)) for item in catalogue.accelerators}
    figures = {pk: _figure(date) for pk, date in dates.items() if date is not None}
    return Axis(measure=measure, condition="", choices=(), figures=figures, elsewhere={})


def _figure(date: SpecValue) -> AxisFigure:
    source = date.source
    return AxisFigure(
        amount=decimal_year(date.value),
        text=date.value,
        exact=date.value,
        basis_name=date.basis,
        remark=describe_condition(date.condition),
        source_title=source.title if source else "",
        source_url=source.url if source else "",
    )


def decimal_year(date: str) -> float:
    """`2022-07-01` -> 2022.5; of a month or a year alone its middle.

    >>> decimal_year("2022"), decimal_year("2022-01"), decimal_year("2022-01-01")
    (2022.5, 2022.0417, 2022.0)
    """
    year, month, day = (*(int(part) for part in date.split("-") if part.isdecimal()), 0, 0)[:3]
    if not month:
        return year + 0.5
    return round(year + (month - 1 + ((day - 1) / 31 if day else 0.5)) / 12, 4)
