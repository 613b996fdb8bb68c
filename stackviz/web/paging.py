"""Lists in pages, without counting what is not shown: for lists as long as the catalogue.

Lists that grow with what machines send are cut by key (`key_paging`): a page number skips every row before it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from django.http import HttpRequest

from stackviz.web.address import whole_number

LAST_PAGE = 10_000  # beyond it nobody reads, and the database would still have to skip every row before it

Item = TypeVar("Item")
Row = TypeVar("Row")
RowOut_co = TypeVar("RowOut_co", covariant=True)


class Sliceable(Protocol[RowOut_co]):
    """A query set or a list: what a page is cut from."""

    def __getitem__(self, cut: slice, /) -> Iterable[RowOut_co]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """One page of a list, cut by number (`page_of`) or by key (`key_paging.key_page`).

    `before`, `after`: what the addresses of its neighbours say, "" where there is none. `number` counts from 1; 0 of a
    list cut by key. `following`: the first item of the next page, where a list cut by key has read it.
    """

    items: Sequence[Item]
    before: str
    after: str
    number: int = 0
    per_page: int = 0
    following: Item | None = None

    @property
    def is_only(self) -> bool:
        return not (self.before or self.after)

    @property
    def first(self) -> int:
        """The place of its first item in the whole list, from 1; 0 where it has none. Of a numbered page."""
        return (self.number - 1) * self.per_page + 1 if self.items else 0

    @property
    def last(self) -> int:
        return self.first + len(self.items) - 1 if self.items else 0


def page_number(request: HttpRequest, parameter: str = "page") -> int:
    """The page asked for, from 1; what is not a number, or out of bounds, is page 1."""
    text = request.GET.get(parameter, "")
    number = whole_number(text, max_digits=len(str(LAST_PAGE))) or 1
    return number if number <= LAST_PAGE else 1


def page_of(rows: Sliceable[Row], number: int, per_page: int) -> Page[Row]:
    """Page `number` of `rows`. One query: one row more than shown is read, to know whether there is a next page."""
    start = (number - 1) * per_page
    window = list(rows[slice(start, start + per_page + 1)])
    before = str(number - 1) if number > 1 else ""
    after = str(number + 1) if len(window) > per_page else ""
    return Page(items=window[:per_page], before=before, after=after, number=number, per_page=per_page)


def page_as(page: Page[Row], shown: Callable[[Row], Item]) -> Page[Item]:
    """The same page with each row as it is shown."""
    items = [shown(row) for row in page.items]
    return Page(items=items, before=page.before, after=page.after, number=page.number, per_page=page.per_page)
