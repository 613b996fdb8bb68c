"""The prices of a sheet: what it costs in one line, the newest price of each seller, and all earlier ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from stackviz.pages.accelerators.sheet_sources import NumberedSources, SheetSource
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.costs import LAUNCH_FIELDS, costs_of, costs_sentence, launch_day
from stackviz.records.catalog.figures import for_people
from stackviz.records.catalog.models import Accelerator, SpecValue
from stackviz.records.catalog.past import public_prices_at
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.prices.price import Price, plain_number
from stackviz.records.prices.rules import UNDATED

MOST_EARLIER = 200  # earlier prices that a page lists; the API has all


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPrice:
    """One price as the sheet shows it. `of_one`: for one card, "" if the price is for one. `day`: in words."""

    kind: str
    amount: str
    of_one: str
    day: str
    seller: str
    source: SheetSource | None
    note: str


def sheet_prices(
    accelerator: Accelerator, values: Sequence[SpecValue], numbers: NumberedSources, at: datetime | None
) -> dict[str, Any]:
    """`answer`: what it costs, of each kind, in one line.

    `newest`: launch prices, then the newest of each kind, seller and offer; `earlier`: the others, newest first.
    `values`: those of the sheet; `left_out`: how many earlier ones a page does not list. No query for the present; two
    for a past moment.
    """
    dated = public_prices_at(accelerator.pk, at) if at else public_catalogue().prices(accelerator.pk)
    seen: set[tuple[object, ...]] = set()
    newest: list[Price] = []
    earlier: list[Price] = []
    for price in dated:
        seller = (price.kind, price.currency, price.seller, price.offer, price.cards)
        (earlier if seller in seen else newest).append(price)
        seen.add(seller)
    newest.sort(key=lambda price: price.kind != Price.Kind.STREET)
    return {
        "answer": costs_sentence(costs_of(values, dated)),
        "newest": [*_launch_prices(values, numbers), *(_shown(price, numbers) for price in newest)],
        "earlier": [_shown(price, numbers) for price in earlier[:MOST_EARLIER]],
        "left_out": max(0, len(earlier) - MOST_EARLIER),
    }


def _launch_prices(values: Sequence[SpecValue], numbers: NumberedSources) -> Iterable[SheetPrice]:
    for value in values:
        if value.field in LAUNCH_FIELDS and value.is_preferred:
            day = launch_day(value, values)
            yield SheetPrice(
                kind=str(LAUNCH_FIELDS[value.field].label),
                amount=for_people(value).label,
                of_one="",
                day=_("undated") if day == UNDATED else day,
                seller=describe_condition(value.condition),
                source=numbers.of(value.source) if value.source else None,
                note=value.note,
            )


def _shown(price: Price, numbers: NumberedSources) -> SheetPrice:
    text = _("%(amount)s for one of %(n)d") if price.cards > 1 else ""
    words = {"amount": f"{plain_number(price.of_one)} {price.currency}", "n": price.cards}
    return SheetPrice(
        kind=str(price.get_kind_display()),
        amount=price.label,
        of_one=text % words if text else "",
        day=price.day_words,
        seller=", ".join(filter(None, [price.seller, price.offer])),
        source=numbers.of(price.source),
        note=price.note,
    )
