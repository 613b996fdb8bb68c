"""The first of vendors that a reader of one page of the ladder would miss, with the page it is on. No query."""

from dataclasses import dataclass

from stackviz.draw.charts.vendors import OTHER, vendor_slot
from stackviz.pages.explore.ladder import LadderRow, Ranking
from stackviz.web.paging import Page


@dataclass(frozen=True, slots=True)
class LaterVendor:
    """`first`: its best; `page`: the number of the page that has it."""

    first: LadderRow
    page: int


def later_vendors(ranking: Ranking, page: Page[LadderRow]) -> tuple[LaterVendor, ...]:
    """Of the vendors with a colour of their own those whose best stands on a later page, best first."""
    by_vendor: dict[str, LaterVendor] = {}
    for at, row in enumerate(ranking.rows):
        if row.rank is not None and vendor_slot(row.subject.vendor) != OTHER:
            by_vendor.setdefault(row.subject.vendor, LaterVendor(row, at // page.per_page + 1))
    return tuple(later for later in by_vendor.values() if later.page > page.number)
