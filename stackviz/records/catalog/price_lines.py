"""Dated prices of the curated files: `prices.csv`, one price a line. Pure: no database.

device,kind,amount,currency,day,seller,offer,cards,status,source,note

`kind`: street (a shop asks it) or rent (per hour); launch prices are values of the field `launch_price_usd`. `amount`:
as printed, for `cards` together. `day`: a day, or a month where the source names no day. `seller`: the shop, or cloud
and region; `offer`: the model, instance or terms. `status`: public (the preferred one of its seller and day),
alternative or retired.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from stackviz.records.catalog.price_rules import price_problems, read_amount, read_day

MOST_PRICES = 20_000
STATUSES = ("public", "alternative", "retired")
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")  # written in one way: it is part of what a line is about
_LENGTHS = {"seller": 60, "offer": 80, "note": 600}


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLine:
    device: str
    kind: str
    amount: str
    currency: str
    day: str
    seller: str
    offer: str
    cards: str
    status: str
    source: str
    note: str

    @property
    def slot(self) -> tuple[str, ...]:
        """What one preferred price may stand for."""
        return self.device, self.kind, self.currency, self.day, self.seller, self.offer, self.cards

    @property
    def key(self) -> str:
        """Identifies the line as long as it is about the same thing from the same source."""
        return "/".join((*self.slot, self.source))


def price_line_problems(
    lines: Sequence[PriceLine], devices: Collection[str], sources: dict[str, str], today: date
) -> Iterator[tuple[int, str]]:
    """(position among the lines, what is wrong, the field first). `sources`: key -> address, "" for none."""
    keys: set[str] = set()
    preferred: set[tuple[str, ...]] = set()
    for number, line in enumerate(lines):
        if line.key in keys:
            yield number, f"duplicate: {line.key}"
        keys.add(line.key)
        if line.status == "public" and line.slot in preferred:
            yield number, f"status: two preferred prices of {', '.join(filter(None, line.slot))}"
        if line.status == "public":
            preferred.add(line.slot)
        if line.device not in devices:
            yield number, f"device: unknown accelerator {line.device!r}"
        if not sources.get(line.source):
            yield number, f"source: a price needs a source with an address, not {line.source!r}"
        yield from ((number, problem) for problem in _line_problems(line, today))


def _line_problems(line: PriceLine, today: date) -> Iterator[str]:
    """What is wrong with one price by itself."""
    if line.status not in STATUSES:
        yield f"status must be one of {', '.join(STATUSES)}, not {line.status!r}"
    if not line.seller:
        yield "seller: the shop or the cloud is missing"
    for name, most in _LENGTHS.items():
        if len(getattr(line, name)) > most:
            yield f"{name}: more than {most} characters"
    if not _WHOLE_NUMBER.fullmatch(line.cards):
        yield f"cards is a whole number such as 8, not {line.cards[:40]!r}"
        return
    try:
        day, _is_month = read_day(line.day)
        amount = read_amount(line.amount)
    except ValueError as error:
        yield str(error)
        return
    problems = price_problems(
        kind=line.kind, amount=amount, currency=line.currency, day=day, cards=int(line.cards), today=today
    )
    yield from (problem for _field, problem in problems)
