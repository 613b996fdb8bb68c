"""Figures that follow from the published ones, as rows of the spec table of a comparison."""

from collections.abc import Sequence

from stackviz.records.catalog.derived import Derived
from stackviz.records.catalog.spec_table import MissingValue, SpecCell, SpecColumn, SpecRow

DERIVED = "derived"


def derived_rows(columns: Sequence[SpecColumn]) -> tuple[SpecRow, ...]:
    """A row for each derivation and condition that anybody's figures allow; only equal conditions share a row."""
    derivations = zip(*(column.derived for column in columns), strict=True)
    return tuple(row for figures in derivations for row in _derived_rows(figures))


def _derived_rows(figures: Sequence[Derived]) -> list[SpecRow]:
    """The rows of one derivation; `figures`: one for each accelerator."""
    conditions = dict.fromkeys(figure.condition for figure in figures if figure.amount is not None)
    return [_derived_row(figures, condition) for condition in conditions]


def _derived_row(figures: Sequence[Derived], condition: str) -> SpecRow:
    first = figures[0]
    return SpecRow(
        field=first.name,
        title=first.title,
        unit=first.unit,
        condition=condition,
        better=first.higher_is_better,
        cells=tuple(_derived_cell(figure) if _is_under(figure, condition) else None for figure in figures),
        meaning=first.formula,
        group=DERIVED,
        missing=tuple(None if _is_under(figure, condition) else _derived_missing(figure) for figure in figures),
    )


def _is_under(figure: Derived, condition: str) -> bool:
    return figure.amount is not None and figure.condition == condition


def _derived_cell(figure: Derived) -> SpecCell:
    return SpecCell(
        amount=figure.amount,
        text=figure.text,
        exact=figure.exact,
        basis="derived",
        source_title="",
        source_url="",
        note=figure.worked,
    )


def _derived_missing(figure: Derived) -> MissingValue:
    if figure.amount is None:
        return MissingValue(reason="cannot_tell", detail=figure.reason)
    return MissingValue(reason="other_condition", condition=figure.condition, instead=_derived_cell(figure))
