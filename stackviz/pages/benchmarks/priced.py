"""What a result cost: a rate against the street price or rent of its own month. No other month, and no launch price.

A rent gives the cost of a million tokens, images or samples, a street price the rate that one unit of the currency
buys. Nothing is converted: each price stays in its currency. Where no price of the result's month is known, the answer
is that, and never an older price.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.base.units import format_number, quantity_label
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.prices.price import Price, plain_number, prices_of_month

SECONDS = 3600
MILLION = 1e6
DIGITS = 3  # a quotient is no more exact than a rent with two decimals
# What a rent is divided by: work that is counted one by one, and its name. A million bytes cost nothing worth a figure.
COUNTED: Mapping[str, Promise] = {
    "token/s": gettext_lazy("tokens"),
    "image/s": gettext_lazy("images"),
    "sequence/s": gettext_lazy("sequences"),
    "sentence/s": gettext_lazy("sentences"),
    "sample/s": gettext_lazy("samples"),
    "frame/s": gettext_lazy("frames"),
    "item/s": gettext_lazy("items"),
    "inference/s": gettext_lazy("inferences"),
    "query/s": gettext_lazy("queries"),
    "step/s": gettext_lazy("steps"),
}
PER_DEVICE = frozenset({"train-tokens-per-device", "train-model-flops"})  # their rates are those of one device


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedRate:
    """A rate against one price. `text`: the figure for people; `formula` in words, `worked` with the figures in it.

    `amount` is in the price's currency for a million (rent), or the rate in its base unit for one of it (street).
    """

    price: Price
    amount: float
    text: str
    formula: str
    worked: str

    @property
    def where(self) -> str:
        """`AWS us-east-1, p5.48xlarge on demand, 2025-11-30`."""
        return ", ".join(filter(None, [self.price.seller, self.price.offer, self.price.day_words]))


def is_priced(si: str, *, higher_is_better: bool = True) -> bool:
    """Whether a price can be divided by such results: rates, of which more is better."""
    return higher_is_better and si.endswith("/s")


def priced_result(result: CitedResult) -> tuple[PricedRate, ...]:
    """A cited result against each price of its month, the cheapest first; () where none is known, or not the day."""
    benchmark = CITED_BENCHMARKS.get(result.benchmark)
    if benchmark is None or result.accelerator_id is None or result.date is None:
        return ()
    if not is_priced(result.si, higher_is_better=benchmark.higher_is_better):
        return ()
    devices = 1 if result.benchmark in PER_DEVICE else result.count
    return priced_rate(result.accelerator_id, result.amount, result.si, devices, result.date)


def priced_rate(accelerator_id: int, rate: float, si: str, devices: int, when: date) -> tuple[PricedRate, ...]:
    """A rate that so many devices reached together, against each price of the month. No query in a warm process."""
    prices = prices_of_month(public_catalogue().prices(accelerator_id), when)
    rates = (_against(price, rate, si, devices) for price in prices)
    return tuple(sorted(filter(None, rates), key=_order))


def _order(item: PricedRate) -> tuple[bool, str, float]:
    is_rent = item.price.kind == Price.Kind.RENT
    return not is_rent, item.price.currency, item.amount if is_rent else -item.amount


def _against(price: Price, rate: float, si: str, devices: int) -> PricedRate | None:
    if rate <= 0:
        return None
    if price.kind == Price.Kind.STREET:
        return _bought(price, rate, si, devices)
    return _rented(price, rate, si, devices) if si in COUNTED else None


def _rented(price: Price, rate: float, si: str, devices: int) -> PricedRate:
    amount = price.of_one * devices / (rate * SECONDS) * MILLION
    words = {"amount": format_number(amount, digits=DIGITS), "currency": price.currency, "things": COUNTED[si]}
    return PricedRate(
        price=price,
        amount=amount,
        text=_("%(amount)s %(currency)s per million %(things)s") % words,
        formula=_("rent of one card per hour × devices ÷ (rate × 3,600 s) × 1,000,000"),
        worked=f"{_of_one(price)} × {devices} ÷ ({quantity_label(rate, si)} × 3,600 s) × 1,000,000",
    )


def _bought(price: Price, rate: float, si: str, devices: int) -> PricedRate:
    amount = rate / (price.of_one * devices)
    words = {"rate": quantity_label(amount * 1000, si, digits=DIGITS), "currency": price.currency}
    return PricedRate(
        price=price,
        amount=amount,
        text=_("%(rate)s per 1,000 %(currency)s") % words,
        formula=_("rate ÷ (street price of one card × devices) × 1,000"),
        worked=f"{quantity_label(rate, si)} ÷ ({_of_one(price)} × {devices}) × 1,000",
    )


def _of_one(price: Price) -> str:
    if price.cards == 1:
        return price.label
    return f"{plain_number(price.of_one)} {price.currency}"


def cheapest(priced: Sequence[PricedRate]) -> tuple[PricedRate, ...]:
    """Of each kind and currency the cheapest: what a ranking has room for."""
    seen: dict[tuple[str, str], PricedRate] = {}
    for item in priced:
        seen.setdefault((item.price.kind, item.price.currency), item)
    return tuple(seen.values())


def priced_out(priced: Iterable[PricedRate]) -> list[dict[str, Any]]:
    """For files: each figure with the price that it is made of."""
    return [
        {
            "kind": str(item.price.kind),
            "figure": item.amount,
            "of": "1,000,000" if item.price.kind == Price.Kind.RENT else "1",
            "currency": item.price.currency,
            "price": float(item.price.amount),
            "cards": item.price.cards,
            "day": item.price.day_text,
            "seller": item.price.seller,
            "offer": item.price.offer,
            "source_url": item.price.source.url,
            "formula": item.worked,
        }
        for item in priced
    ]
