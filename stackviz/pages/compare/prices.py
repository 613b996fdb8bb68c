"""What the subjects of a comparison cost: a row for each kind of price, and the tile, which compares one kind only.

A launch price is held against launch prices, a street price against street prices, a rent against rents. No queries but
for the prices of a past moment.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.utils.translation import gettext as _

from stackviz.pages.compare.answers import Question, SubjectFigure
from stackviz.pages.compare.subjects import Head
from stackviz.records.catalog.costs import (
    LAUNCH_FIELDS,
    Cost,
    CostKind,
    costs_now,
    costs_of,
    leading_cost,
)
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.past import public_prices_of_sheets_at
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.catalog.spec_table import MissingValue, SpecCell, SpecColumn, SpecRow

GROUP = FIELDS["launch_price_usd"].group
OFFERS = {CostKind.STREET: "street_price", CostKind.RENT: "rent_per_hour"}  # the names of their rows

Costs = Mapping[CostKind, Cost]


def with_prices(rows: Sequence[SpecRow], columns: Sequence[SpecColumn], at: datetime | None) -> list[SpecRow]:
    """Add the days of launch prices, and after the rows on the product those of street prices and rents."""
    costs = [{cost.kind: cost for cost in known} for known in _costs_of_columns(columns, at)]
    dated = [_with_days(row, costs) if row.field in LAUNCH_FIELDS else row for row in rows]
    after = max((index + 1 for index, row in enumerate(dated) if row.group == GROUP), default=0)
    return [*dated[:after], *_offer_rows(costs), *dated[after:]]


def _costs_of_columns(columns: Sequence[SpecColumn], at: datetime | None) -> list[tuple[Cost, ...]]:
    if at is None:
        catalogue = public_catalogue()
        return [costs_now(column.accelerator.pk, catalogue) for column in columns]
    prices = public_prices_of_sheets_at([column.accelerator.pk for column in columns], at)
    values = ([value for of_row in column.values.values() for value in of_row] for column in columns)
    return [costs_of(known, prices[column.accelerator.pk]) for known, column in zip(values, columns, strict=True)]


def _with_days(row: SpecRow, costs: Sequence[Costs]) -> SpecRow:
    """The row of launch prices with the day of each, where a card may have one and a whole machine another."""
    of_row = [_launch_in(row, column, costs[column]) for column in range(len(costs))]
    days = [cost.day_words if cost else "" for cost in of_row]
    named = row.labels or [""] * len(days)
    labels = tuple(", ".join(filter(None, pair)) for pair in zip(named, days, strict=True))
    missing = tuple(
        replace(why, condition=", ".join(filter(None, (why.condition, day)))) if why and why.instead else why
        for why, day in zip(row.missing, days, strict=True)
    )
    return replace(row, labels=labels, missing=missing, costs=tuple(of_row))


def _launch_in(row: SpecRow, column: int, costs: Costs) -> Cost | None:
    """The launch price that the row shows of the column, None for none."""
    if row.shown[column] is None:
        return None
    return costs.get(CostKind.LAUNCH) or costs.get(CostKind.MACHINE)


def _offer_rows(costs: Sequence[Costs]) -> list[SpecRow]:
    """A row for each kind and currency that anybody's newest price is in."""
    titles = {
        CostKind.STREET: (
            _("Street price"),
            _("The newest price that a shop asks, with its day if its source names one."),
        ),
        CostKind.RENT: (
            _("Rent of one per hour"),
            _("The newest price of one hour at a cloud, with its day if its source names one."),
        ),
    }
    rows = []
    for kind, (title, meaning) in titles.items():
        known = [of_column.get(kind) for of_column in costs]
        for currency in dict.fromkeys(cost.currency for cost in known if cost):
            in_row = tuple(cost if cost and cost.currency == currency else None for cost in known)
            rows.append(_offer_row(OFFERS[kind], title, meaning, currency, in_row))
    return rows


def _offer_row(field: str, title: str, meaning: str, currency: str, costs: tuple[Cost | None, ...]) -> SpecRow:
    unknown = MissingValue(reason="not_published", detail=_("no price of this kind known"))
    return SpecRow(
        field=field,
        title=title,
        unit=currency,
        condition="",
        better=False,
        cells=tuple(_offer_cell(cost) if cost else None for cost in costs),
        meaning=meaning,
        group=GROUP,
        missing=tuple(None if cost else unknown for cost in costs),
        labels=tuple(f"{cost.day_words}, {cost.seller}" if cost else "" for cost in costs),
        costs=costs,
    )


def _offer_cell(cost: Cost) -> SpecCell:
    return SpecCell(
        amount=cost.amount,
        text=cost.amount_text,
        exact=cost.amount_text,
        basis="published",
        source_title=cost.source.title if cost.source else "",
        source_url=cost.source.url if cost.source else "",
        note=cost.note,
    )


# --- the tile ---


def price_figures(
    question: Question, heads: Sequence[Head], rows: Sequence[SpecRow]
) -> tuple[Question, list[SubjectFigure]]:
    """Compare the kind of price that most subjects have; the others show what they have, with its kind.

    The question returned names the kind. Where no two subjects have one kind, nothing is compared.
    """
    costs = [_costs_in(rows, column) for column in range(len(heads))]
    counts = Counter(_likeness(cost) for known in costs for cost in known)
    order = list(CostKind)
    compared = max(counts, key=lambda like: (counts[like], -order.index(like[0])), default=None)
    if compared is None or counts[compared] < 2:
        return question, [
            _price_figure(head, leading_cost(known), _why_unpriced(rows, column))
            for column, (head, known) in enumerate(zip(heads, costs, strict=True))
        ]
    label = compared[0].label
    named = replace(question, title=f"{question.title}: {label}", noun=label)
    figures = []
    for column, (head, known) in enumerate(zip(heads, costs, strict=True)):
        cost = next((cost for cost in known if _likeness(cost) == compared), None)
        why = _why_unpriced(rows, column)
        figures.append(_compared_figure(head, cost) if cost else _price_figure(head, leading_cost(known), why))
    return named, figures


def _costs_in(rows: Sequence[SpecRow], column: int) -> list[Cost]:
    known = (row.costs[column] for row in rows if row.costs)
    return list({cost.kind: cost for cost in known if cost}.values())


def _likeness(cost: Cost) -> tuple[CostKind, str, str]:
    """What must be equal for two prices to be compared; machines with one chip are sold in several sizes."""
    return cost.kind, cost.currency, "" if cost.kind is CostKind.MACHINE else cost.under


def _compared_figure(head: Head, cost: Cost) -> SubjectFigure:
    condition = ", ".join(filter(None, (cost.condition, cost.day_words, cost.seller)))
    return SubjectFigure(subject=head.title, slot=head.slot, amount=cost.amount, text=cost.text, condition=condition)


def _why_unpriced(rows: Sequence[SpecRow], column: int) -> str:
    """Why there cannot be a launch price, such as that Apple sells whole Macs only; else that no price is known."""
    reasons = (row.missing[column] for row in rows if row.field in LAUNCH_FIELDS)
    return next((why.detail for why in reasons if why and why.detail), _("no price known"))


def _price_figure(head: Head, cost: Cost | None, why: str) -> SubjectFigure:
    """A price that is shown and not compared, with its kind."""
    if cost is None:
        return SubjectFigure(subject=head.title, slot=head.slot, why=why)
    return SubjectFigure(
        subject=head.title,
        slot=head.slot,
        amount=cost.amount,
        text=cost.text,
        condition=", ".join(filter(None, (cost.remark, cost.seller))),
        is_beside=True,
        has_bar=False,
    )
