"""Hold a value that shall be public against its formula, beside what its sheet publishes otherwise. Needs no query."""

from django.utils.translation import gettext as _

from stackviz.catalog.by_formula import NOT_BY_FORMULA, disagreements
from stackviz.catalog.formula import Published
from stackviz.catalog.models import SpecValue


def formula_problem(value: SpecValue, current: SpecValue | None, published: Published) -> str:
    """Why the figure cannot be right, or "". `published`: what its sheet prefers, or would prefer.

    A figure that does not change, and one whose note says why it is right all the same, is not held against it.
    """
    if current is not None and current.amount == value.amount:
        return ""
    if value.note.startswith(NOT_BY_FORMULA) or (value.note and not value.is_preferred):
        return ""
    expected = disagreements(value, published)
    if not expected:
        return ""
    return _(
        "The formula does not hold: %(expected)s. If it is right all the same, let the note say why: “%(words)s …”."
    ) % {"expected": "; ".join(str(one) for one in expected), "words": NOT_BY_FORMULA}
