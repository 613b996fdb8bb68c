"""Hold a value that shall be public against its formula, beside what its sheet publishes otherwise. Needs no query."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from stackviz.catalog.check import NOT_BY_FORMULA, disagreements, published_by
from stackviz.catalog.models import SpecValue

Slot = tuple[str, str]  # field, condition


def preferred_by_slot(values: Iterable[SpecValue]) -> dict[Slot, SpecValue]:
    """What one sheet prefers."""
    return {(value.field, value.condition): value for value in values if value.is_preferred}


def formula_problem(value: SpecValue, current: SpecValue | None, sheet: Iterable[SpecValue]) -> str:
    """Why the figure cannot be right, or "". `sheet`: its preferred values as they would be, with this one or without.

    A figure that does not change, and one whose note says why it is right all the same, is not held against it.
    """
    if current is not None and current.amount == value.amount:
        return ""
    if value.note.startswith(NOT_BY_FORMULA) or (value.note and not value.is_preferred):
        return ""
    expected = disagreements(value, published_by(value.accelerator.slug, sheet))
    if not expected:
        return ""
    return _(
        "The formula does not hold: %(expected)s. If it is right all the same, let the note say why: “%(words)s …”."
    ) % {"expected": "; ".join(str(one) for one in expected), "words": NOT_BY_FORMULA}
