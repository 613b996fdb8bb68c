"""Bring the dated prices to what `prices.csv` says, without touching what people have corrected since."""

from stackviz.records.catalog.change import Change, Counts
from stackviz.records.catalog.models import Accelerator, Source
from stackviz.records.catalog.price import Price
from stackviz.records.catalog.price_lines import PriceLine
from stackviz.records.catalog.price_rules import read_amount, read_day

_CHANGED = (
    "kind", "amount", "currency", "day", "is_month", "seller", "offer", "cards", "source", "note", "status",
    "is_preferred", "proposed_by", "checked_by", "checked_at",
)  # fmt: skip


def load_prices(
    lines: tuple[PriceLine, ...], accelerators: dict[str, Accelerator], sources: dict[str, Source], reason: str
) -> Counts:
    """Load the lines, in the caller's transaction. A price preferred here stays so: that of the files gives way."""
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
    return change.apply(list(_CHANGED), reason)


def price_of(line: PriceLine, accelerator: Accelerator, source: Source) -> Price:
    day, is_month = read_day(line.day)
    return Price(
        data_key=line.key,
        accelerator=accelerator,
        kind=line.kind,
        amount=read_amount(line.amount),
        currency=line.currency,
        day=day,
        is_month=is_month,
        seller=line.seller,
        offer=line.offer,
        cards=int(line.cards),
        source=source,
        note=line.note,
        status=Price.Status.RETIRED if line.status == "retired" else Price.Status.PUBLIC,
        is_preferred=line.status == "public",
    )
