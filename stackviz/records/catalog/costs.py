"""What an accelerator costs: its launch price, the newest street price and the newest rent per hour of one card.

Sheet, list, comparison, search, chapters and API read it here. An amount stays in the currency in which it was printed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.records.catalog.conditions import describe_condition, parse
from stackviz.records.catalog.models import Source, SpecValue
from stackviz.records.catalog.queries import CAME_OUT, DATE, PublicCatalogue
from stackviz.records.prices.price import Price, plain_number
from stackviz.records.prices.rules import UNDATED

DOLLARS = "USD"


class CostKind(models.TextChoices):
    """In the order in which they are shown. Amounts of two kinds are never compared."""

    LAUNCH = "launch", gettext_lazy("launch price")
    MACHINE = "machine", gettext_lazy("launch price of a whole machine")
    STREET = "street", gettext_lazy("street price")
    RENT = "rent", gettext_lazy("rent per hour")


_SHORT_KINDS = {
    CostKind.LAUNCH: gettext_lazy("launch"),
    CostKind.MACHINE: gettext_lazy("whole machine"),
    CostKind.STREET: gettext_lazy("street"),
    CostKind.RENT: gettext_lazy("an hour"),
}
LAUNCH_FIELDS = {"launch_price_usd": CostKind.LAUNCH, "machine_price_usd": CostKind.MACHINE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one accelerator costs. `amount`: of one card, in `currency`; `amount_text`: the same for people.

    `day`: that of the offer, a month, or `undated`. `seller`: "" for launch prices; `under`: their condition as stored.
    """

    kind: CostKind
    amount: float
    currency: str
    amount_text: str
    day: str
    seller: str
    under: str
    source: Source | None
    note: str

    @property
    def text(self) -> str:
        """`30,000 USD`; a rent is per hour, as its kind says."""
        return f"{self.amount_text} {self.currency}"

    @property
    def day_words(self) -> str:
        """The day in the reader's language."""
        return _("undated") if self.day == UNDATED else self.day

    @property
    def condition(self) -> str:
        """What it holds under, in words: a Mac Studio of 48 GB."""
        return describe_condition(self.under)

    @property
    def remark(self) -> str:
        """`street price, undated`: kind, condition and day."""
        return ", ".join(filter(None, (str(self.kind.label), self.condition, self.day_words)))

    @property
    def short_remark(self) -> str:
        """`street, undated`, `launch, 2022-10`: kind and month in the width of a column."""
        return f"{_SHORT_KINDS[self.kind]}, {self.day_words if self.day == UNDATED else self.day[:7]}"

    @property
    def variant_memory(self) -> str:
        """The memory of the variant it buys, `64 GB`; "" where it names none."""
        return _variant_memory(self.under)

    @property
    def as_data(self) -> dict[str, Any]:
        """Return it for the API and for files."""
        source = self.source
        return {
            "kind": self.kind.value,
            "amount": self.amount,
            "currency": self.currency,
            "day": self.day,
            "seller": self.seller,
            "condition": self.under,
            "source": source
            and {"title": source.title, "url": source.url, "read_as": source.read_as, "read_on": source.read_on},
        }

    @property
    def sentence(self) -> str:
        """`30,000 USD (street price, undated, shop not named)`"""
        return f"{self.text} ({', '.join(filter(None, (self.remark, self.seller)))})"


def costs_of(values: Iterable[SpecValue], prices: Sequence[Price]) -> tuple[Cost, ...]:
    """Return the answer of each kind that is known, in the order of CostKind. `values`: the sheet's public ones.

    Of the preferred prices of the newest day the cheapest answers, in dollars where there is one; an undated price
    answers only where no other is known.
    """
    preferred = [value for value in values if value.is_preferred]
    launches = (_launch_cost(kind, name, preferred) for name, kind in LAUNCH_FIELDS.items())
    offers = (_newest_offer(kind, prices) for kind in (CostKind.STREET, CostKind.RENT))
    return tuple(filter(None, (*launches, *offers)))


def costs_now(pk: int, catalogue: PublicCatalogue) -> tuple[Cost, ...]:
    """Return `costs_of` a public accelerator as of the catalogue's edition, computed once in it."""
    return catalogue.once(("costs", pk), lambda: costs_of(catalogue.preferred_values(pk), catalogue.prices(pk)))


def costs_with_memory(pk: int, catalogue: PublicCatalogue, least_gb: float | None) -> tuple[Cost, ...]:
    """Return `costs_now` of what has so much memory: the price of a smaller variant does not buy it.

    A price that names no variant is that of the smallest.
    """
    sizes = [value.amount / 1e9 for value in catalogue.preferred(pk, "memory_gb") if value.amount is not None]
    smallest = min(sizes, default=0.0)
    if not least_gb or smallest >= least_gb:
        return costs_now(pk, catalogue)
    values = [
        value for value in catalogue.preferred_values(pk)
        if value.field not in LAUNCH_FIELDS or _variant_gb(value, smallest) >= least_gb
    ]  # fmt: skip
    return costs_of(values, ())


def _variant_memory(condition: str) -> str:
    """Return the memory of the variant that a condition names: `64 GB`; "" for none."""
    return parse(condition).get("configuration", "")


def _variant_gb(price: SpecValue, smallest: float) -> float:
    size = _variant_memory(price.condition).removesuffix(" GB")
    return float(size) if size.replace(".", "", 1).isdecimal() else smallest


def leading_cost(costs: Sequence[Cost]) -> Cost | None:
    """Return the one price to show: what buys it, of a known day if there is one; a rent where nothing else is known.

    A dated street price is newer than the launch price, which is true of one day long ago.
    """
    by_kind = {cost.kind: cost for cost in costs}
    street = by_kind.get(CostKind.STREET)
    dated = street if street and street.day != UNDATED else None
    order = (dated, by_kind.get(CostKind.LAUNCH), by_kind.get(CostKind.MACHINE), street, by_kind.get(CostKind.RENT))
    return next(filter(None, order), None)


def dollars_to_buy(costs: Sequence[Cost]) -> float | None:
    """Return the leading price if it buys one for dollars: what lists order and filter by, for rents are no price."""
    leading = leading_cost(costs)
    return leading.amount if leading and leading.kind != CostKind.RENT and leading.currency == DOLLARS else None


def costs_sentence(costs: Sequence[Cost]) -> str:
    """Return all of them in one line of text, the leading one first; "" where nothing is known."""
    leading = leading_cost(costs)
    rest = [cost for cost in costs if cost is not leading]
    return "; ".join(cost.sentence for cost in (leading, *rest) if cost)


def launch_day(price: SpecValue, values: Iterable[SpecValue]) -> str:
    """Return the day of a launch price, as precise as its source, or `undated`. `values`: those of the sheet.

    It is when the product came out, or the machine that the price is of, which may be months later.
    """
    machine = parse(price.condition).get("machine", "")
    dates = [value for value in values if value.field == DATE and value.is_preferred]
    of_machine = [value for value in dates if parse(value.condition).get("machine", "") == machine]
    sold = [value for value in of_machine if value.condition.partition(";")[0] in CAME_OUT]
    return min((value.value for value in sold or ([] if machine else of_machine)), default=UNDATED)


def _launch_cost(kind: CostKind, field: str, preferred: Sequence[SpecValue]) -> Cost | None:
    """Return the plain launch price, else the least of its variants."""
    amounts = [(value.condition != "", value.amount, value) for value in preferred if value.field == field]
    known = [(is_variant, amount, value) for is_variant, amount, value in amounts if amount is not None]
    if not known:
        return None
    _is_variant, amount, value = min(known, key=lambda item: item[:2])
    return Cost(
        kind=kind,
        amount=amount,
        currency=DOLLARS,
        amount_text=plain_number(amount),
        day=launch_day(value, preferred),
        seller="",
        under=value.condition,
        source=value.source,
        note=value.note,
    )


def _newest_offer(kind: CostKind, prices: Sequence[Price]) -> Cost | None:
    offers = [price for price in prices if price.kind == kind.value and price.is_preferred]
    if not offers:
        return None
    newest = max((price.day for price in offers if price.day), default=None)
    of_day = [price for price in offers if price.day == newest]
    price = min(of_day, key=lambda row: (row.currency != DOLLARS, row.currency, row.of_one, row.pk))
    return Cost(
        kind=kind,
        amount=price.of_one,
        currency=price.currency,
        amount_text=plain_number(price.of_one),
        day=price.day_text,
        seller=", ".join(filter(None, [price.seller, price.offer])),
        under="",
        source=price.source,
        note=price.note,
    )
