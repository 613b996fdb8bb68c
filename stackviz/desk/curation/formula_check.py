"""Check a proposed public value against its formula and the rest of its sheet. No queries."""

from django.utils.translation import gettext as _

from stackviz.records.catalog.by_formula import NOT_BY_FORMULA, disagreements
from stackviz.records.catalog.formula import Published
from stackviz.records.catalog.models import SpecValue


def formula_problem(value: SpecValue, current: SpecValue | None, published: Published) -> str:
    """Why the figure cannot be right, or "". `published`: what its sheet prefers, or would prefer.

    An unchanged figure, or one whose note explains why it is correct, is not checked.
    """
    if current is not None and current.amount == value.amount:
        return ""
    if value.note.startswith(NOT_BY_FORMULA) or (value.note and not value.is_preferred):
        return ""
    expected = disagreements(value, published)
    if not expected:
        return ""
    return _(
        "The value does not match its formula: %(expected)s. If it is correct, explain why in the note: “%(words)s …”."
    ) % {"expected": "; ".join(str(expectation) for expectation in expected), "words": NOT_BY_FORMULA}
