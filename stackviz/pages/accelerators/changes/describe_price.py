"""Describe one step of a dated price: what a seller asked for an accelerator, of which day, and what became of it."""

from typing import Any

from django.utils.translation import gettext as _

from stackviz.pages.accelerators.changes.describe import new_note, previous_source, tell_decided
from stackviz.pages.accelerators.changes.entry import PRICES, Entry
from stackviz.pages.accelerators.changes.steps import LogStep
from stackviz.records.prices.price import Price, money


def tell_price(step: LogStep) -> Entry | None:
    """The step as an entry without `slug`; None where the public saw no difference."""
    return tell_decided(step, _amount_and_day, _differences, _describe)


def _describe(record: Any) -> dict[str, str]:  # noqa: ANN401 - a record of the history
    return {"field": PRICES, "title": str(Price.Kind(record.kind).label), "condition": _seller(record)}


def _amount_and_day(record: Any) -> str:  # noqa: ANN401 - a record of the history
    """`6.88 USD, 2025-11-30`; `55.04 USD for 8, 2025-11-30` where several cards were priced together."""
    amount = f"{money(record.amount)} {record.currency}"
    if record.cards > 1:
        amount = _("%(amount)s for %(cards)s") % {"amount": amount, "cards": record.cards}
    return f"{amount}, {record.day:%Y-%m}" if record.is_month else f"{amount}, {record.day:%Y-%m-%d}"


def _differences(before: Any, after: Any) -> tuple[str, ...]:  # noqa: ANN401 - records of the history
    """The differences other than amount, cards and day, in words."""
    is_other_seller = (before.seller, before.offer) != (after.seller, after.offer)
    sellers = [_("previous seller: %(seller)s") % {"seller": _seller(before)}] if is_other_seller else []
    return (*sellers, *previous_source(before, after), *new_note(before, after))


def _seller(record: Any) -> str:  # noqa: ANN401 - a record of the history
    return ", ".join(filter(None, [record.seller, record.offer]))
