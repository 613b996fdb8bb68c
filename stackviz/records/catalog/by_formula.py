"""A value checked against the formula of its field, computed from the other figures of its sheet."""

from collections.abc import Iterable

from stackviz.base.units import from_si
from stackviz.records.catalog.fields import Field
from stackviz.records.catalog.formula import Expected, Published, expectations, half_a_digit
from stackviz.records.catalog.models import SpecValue

NOT_BY_FORMULA = "Not by formula:"  # how the note of a value begins that differs from its formula and is right


def disagreements(value: SpecValue, published: Published) -> list[Expected]:
    """What the formula of the value's field makes of the other figures of its sheet, where the value differs from it.

    `value` need not be saved; its condition is canonical. No query.
    """
    registered = value.registered_field
    if registered is None or value.amount is None or not registered.formula:
        return []
    figure, slack = figure_of(registered, value), half_a_digit(value.value) * _scale(registered, value)
    expected = expectations(published, registered.formula, value.field, value.condition)
    return [expectation for expectation in expected if not expectation.holds(figure, slack)]


def published_by(slug: str, values: Iterable[SpecValue]) -> Published:
    """What one sheet publishes: of `values` the preferred public ones. Figures that cannot be read are left out."""
    figures: dict[tuple[str, str], float] = {}
    words: dict[str, str] = {}
    for value in values:
        registered = value.registered_field
        if registered is None or not value.is_preferred or value.status != SpecValue.Status.PUBLIC:
            continue
        if value.amount is None:
            words.setdefault(value.field, value.value)
        else:
            figures[value.field, value.condition] = figure_of(registered, value)
    return Published(slug, figures, words)


def figure_of(registered: Field, value: SpecValue) -> float:
    """The value in the unit of its field; 0.0 for text."""
    return from_si(value.amount or 0.0, registered.unit)


def _scale(registered: Field, value: SpecValue) -> float:
    """How many of the field's unit one of the value's is."""
    try:
        return figure_of(registered, value) / float(value.value)
    except (ValueError, ZeroDivisionError):
        return 1.0
