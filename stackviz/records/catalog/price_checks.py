"""The checks of dated prices: each by itself, and that one of those about the same thing is preferred."""

from collections import defaultdict
from collections.abc import Iterator

from django.utils import timezone

from stackviz.records.catalog.price import Price
from stackviz.records.catalog.price_rules import price_problems
from stackviz.records.catalog.reviewed import CheckFinding, Problem, Reviewed
from stackviz.records.catalog.vendor_hosts import is_source_page

Slot = tuple[object, ...]


def prices(reviewed: Reviewed) -> Iterator[CheckFinding]:
    """One finding per price: the first thing that is wrong with it."""
    today = timezone.now().date()
    for price in reviewed.prices:
        problems = price_problems(
            kind=price.kind, amount=price.amount, currency=price.currency, day=price.day, cards=price.cards, today=today
        )
        wrong = next((problem for _field, problem in problems), "")
        if not wrong and not is_source_page(price.source.url):
            wrong = f"the web address of a page for its source, not {price.source.url!r}"
        yield _problem([price], wrong) if wrong else CheckFinding()


def preferred_prices(reviewed: Reviewed) -> Iterator[CheckFinding]:
    alike: dict[Slot, list[Price]] = defaultdict(list)
    for price in reviewed.prices:
        alike[price.slot].append(price)
    for rows in alike.values():
        chosen = [price for price in rows if price.is_preferred]
        expected = f"one preferred price, not {len(chosen)}"
        yield CheckFinding() if len(chosen) == 1 else _problem(chosen or rows, expected)


def _problem(rows: list[Price], expected: str) -> CheckFinding:
    first, labels = rows[0], "; ".join(price.label for price in rows)
    where = ", ".join(filter(None, [first.seller, first.offer, first.day_text]))
    return CheckFinding(Problem(first.accelerator.slug, f"price ({first.kind})", where, labels, expected))
