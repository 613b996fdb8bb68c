"""`prices.csv`, one price a line: read, check and load it.

device,kind,amount,currency,day,seller,offer,cards,status,source,note

`kind`: street (a shop asks it) or rent (per hour); launch prices are values of the field `launch_price_usd`. `amount`:
as printed, for `cards` together. `day`: the day of the offer, its month where the source names no day, or `undated`
where it names neither; never the day on which a page was read. `seller`: the shop, or cloud and region; `offer`: the
model, instance or terms. `status`: public (the preferred one of its seller and day), alternative or retired.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from stackviz.records.curated.change import Change, Counts
from stackviz.records.prices.price import Price
from stackviz.records.prices.rules import price_problems, read_amount, read_day

MOST_PRICES = 20_000
STATUSES = ("public", "alternative", "retired")
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,5}")  # written in one way: it is part of what a line is about
_LENGTHS = {"seller": 60, "offer": 80, "note": 600}
_LOADED_COLUMNS = (
    "kind", "amount", "currency", "day", "is_month", "seller", "offer", "cards", "source_id", "note", "status",
    "is_preferred", "proposed_by", "checked_by", "checked_at",
)  # fmt: skip


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


def load_prices(
    lines: Iterable[PriceLine], accelerators: Mapping[str, int], sources: Mapping[str, int], reason: str
) -> Counts:
    """Load the lines, in the caller's transaction; a price that people preferred here stays preferred.

    `accelerators`: slug -> id; `sources`: key -> id.
    """
    wanted = {
        line.key: price_of(line, accelerators[line.device], sources[line.source])
        for line in lines
        if line.device in accelerators and line.source in sources
    }
    change = Change(Price, wanted)
    by_hand = Price.objects.filter(is_preferred=True, data_key__isnull=True)
    taken = {price.slot for price in [*by_hand, *change.corrected] if price.is_preferred}
    for price in wanted.values():
        price.is_preferred = price.is_preferred and price.slot not in taken
    return change.apply(list(_LOADED_COLUMNS), reason)


def price_of(line: PriceLine, accelerator_id: int, source_id: int) -> Price:
    day, is_month = read_day(line.day)
    return Price(
        data_key=line.key,
        accelerator_id=accelerator_id,
        kind=line.kind,
        amount=read_amount(line.amount),
        currency=line.currency,
        day=day,
        is_month=is_month,
        seller=line.seller,
        offer=line.offer,
        cards=int(line.cards),
        source_id=source_id,
        note=line.note,
        status=Price.Status.RETIRED if line.status == "retired" else Price.Status.PUBLIC,
        is_preferred=line.status == "public",
    )
