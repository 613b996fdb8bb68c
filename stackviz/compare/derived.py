"""Rows of figures that follow from the published ones, in the form of the spec table. No queries."""

from collections.abc import Sequence

from stackviz.catalog.derived import Derived, derive
from stackviz.catalog.models import Accelerator, SpecValue
from stackviz.catalog.queries import Missing, SpecCell, SpecRow, peaks_of

DERIVED = "derived"


def derived_rows(accelerators: Sequence[Accelerator], values: Sequence[SpecValue]) -> tuple[SpecRow, ...]:
    """A row for each derivation and condition that anybody's figures allow; only equal conditions share a row."""
    found = peaks_of(values)
    derivations = zip(*(derive(found, accelerator.pk) for accelerator in accelerators), strict=True)
    return tuple(row for of_one in derivations for row in _rows(of_one))


def _rows(figures: Sequence[Derived]) -> list[SpecRow]:
    """The rows of one derivation; `figures`: one for each accelerator."""
    conditions = dict.fromkeys(figure.condition for figure in figures if figure.amount is not None)
    return [_row(figures, condition) for condition in conditions]


def _row(figures: Sequence[Derived], condition: str) -> SpecRow:
    first = figures[0]
    return SpecRow(
        field=first.name,
        title=first.title,
        unit=first.unit,
        condition=condition,
        better=first.higher_is_better,
        cells=tuple(_cell(figure) if _is_under(figure, condition) else None for figure in figures),
        meaning=first.formula,
        group=DERIVED,
        missing=tuple(None if _is_under(figure, condition) else _missing(figure) for figure in figures),
    )


def _is_under(figure: Derived, condition: str) -> bool:
    return figure.amount is not None and figure.condition == condition


def _cell(figure: Derived) -> SpecCell:
    return SpecCell(
        amount=figure.amount,
        text=figure.text,
        exact=figure.exact,
        basis="derived",
        source_title="",
        source_url="",
        note=figure.worked,
    )


def _missing(figure: Derived) -> Missing:
    if figure.amount is None:
        return Missing("cannot_tell", detail=figure.reason)
    return Missing("other_condition", figure.condition, _cell(figure))
