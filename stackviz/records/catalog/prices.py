"""The public prices in memory, read once for each edition of the catalogue; which of them may price a result."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date

from stackviz.records.catalog.price import Price
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue


def public_prices(accelerator_id: int) -> tuple[Price, ...]:
    """The public prices of an accelerator with sources, alternatives included, newest first. One query an edition."""
    return _by_accelerator(public_catalogue()).get(accelerator_id, ())


def prices_of_month(accelerator_id: int, when: date) -> tuple[Price, ...]:
    """The preferred prices of the same calendar month: no other price says what a result of that day cost."""
    return tuple(
        price
        for price in public_prices(accelerator_id)
        if price.is_preferred and (price.day.year, price.day.month) == (when.year, when.month)
    )


def _by_accelerator(catalogue: PublicCatalogue) -> Mapping[int, tuple[Price, ...]]:
    return catalogue.once("prices", lambda: _read(catalogue))


def _read(catalogue: PublicCatalogue) -> Mapping[int, tuple[Price, ...]]:
    rows = Price.objects.filter(status=Price.Status.PUBLIC, accelerator__in=catalogue.by_pk)
    grouped: dict[int, list[Price]] = defaultdict(list)
    for price in newest_prices_first(rows.select_related("source")):
        grouped[price.accelerator_id].append(price)
    return {pk: tuple(prices) for pk, prices in grouped.items()}


def newest_prices_first(prices: Iterable[Price]) -> list[Price]:
    """By day, the newest first; of one day by seller and offer, the preferred one first."""
    return sorted(prices, key=lambda row: (-row.day.toordinal(), row.seller, row.offer, not row.is_preferred, row.pk))
