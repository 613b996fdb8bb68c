"""Lists in pages, without counting what is not shown.

Lists as long as the catalogue are cut by page number (`page_of`). Lists that grow with what machines send are cut by
key (`key_page`), newest first: a page costs the same however far down the list it is.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import F, Model, Q, QuerySet
from django.http import HttpRequest

from stackviz.web.http.address import whole_number

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


NUMBERED_PAGES = 100
CUT_PATTERN = r"(after|before)\.(-?[0-9]{1,17}|)\.([0-9a-f-]{1,36})"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

RowKey = tuple[datetime | None, Any]


@dataclass(frozen=True, slots=True)
class Cut:
    """Which page of a list: the one after, or before, the row with this time and primary key; else after so many."""

    key: tuple[datetime | None, str] | None = None
    is_backwards: bool = False
    skipped: int = 0


def page_cut(request: HttpRequest, per_page: int, parameter: str = "page") -> Cut:
    """The page asked for; the first one where the parameter makes no sense."""
    if cut := cut_of(request.GET.get(parameter, "")):
        return cut
    number = page_number(request, parameter)
    return Cut(skipped=(number - 1) * per_page if number <= NUMBERED_PAGES else 0)


def cut_of(text: str) -> Cut | None:
    """What an address says, such as `after.1763625600000000.412`; None where it is no key."""
    match = re.fullmatch(CUT_PATTERN, text, re.ASCII)
    if match is None:
        return None
    direction, microseconds, pk = match.groups()
    try:
        at = _EPOCH + int(microseconds) * _MICROSECOND if microseconds else None
    except OverflowError:
        return None
    return Cut(key=(at, pk), is_backwards=direction == "before")


def key_text(direction: str, key: RowKey) -> str:
    at, pk = key
    return f"{direction}.{'' if at is None else (at - _EPOCH) // _MICROSECOND}.{pk}"


def key_page(
    rows: "QuerySet[Any, Row]", at: str, cut: Cut, per_page: int, key_of: Callable[[Row], RowKey]
) -> Page[Row]:
    """A page of `rows` in the order of the time `at`, newest first, those without one last.

    One query, a second one where the page reaches the rows without a time. `key_of`: time and primary key of a row.
    """
    key = _usable_key(rows.model, cut)
    if key is None and cut.skipped:
        in_order = rows.order_by(F(at).desc(nulls_last=True), "-pk")
        window = list(in_order[cut.skipped : cut.skipped + per_page + 1])
        return _page(window, per_page, key_of, has_before=True)
    if key is None:
        return _page(_window(rows, at, None, per_page, "after"), per_page, key_of, has_before=False)
    if not cut.is_backwards:
        return _page(_window(rows, at, key, per_page, "after"), per_page, key_of, has_before=True)
    window = _window(rows, at, key, per_page, "before")
    shown = window[:per_page][::-1]
    before = key_text("before", key_of(shown[0])) if len(window) > per_page else ""
    return Page(items=shown, before=before, after=key_text("after", key_of(shown[-1])) if shown else "")


def _usable_key(model: type[Model], cut: Cut) -> RowKey | None:
    """The key with the primary key as the model has it; None for one it cannot have."""
    if cut.key is None:
        return None
    try:
        pk = model._meta.pk.to_python(cut.key[1])  # noqa: SLF001 (Django's documented _meta API)
    except ValidationError:
        return None
    return None if isinstance(pk, int) and pk >= 2**63 else (cut.key[0], pk)


def _page(window: list[Row], per_page: int, key_of: Callable[[Row], RowKey], *, has_before: bool) -> Page[Row]:
    shown = window[:per_page]
    before = key_text("before", key_of(shown[0])) if shown else "1"
    following = window[per_page] if len(window) > per_page else None
    after = key_text("after", key_of(shown[-1])) if following is not None else ""
    return Page(items=shown, before=before if has_before else "", after=after, following=following)


def _window(rows: "QuerySet[Any, Row]", at: str, key: RowKey | None, per_page: int, direction: str) -> list[Row]:
    """One row more than a page has, nearest to the key first."""
    window: list[Row] = []
    for part in _parts(rows, at, key, is_backwards=direction == "before"):
        if len(window) <= per_page:
            window += part[: per_page + 1 - len(window)]
    return window


def _parts(
    rows: "QuerySet[Any, Row]", at: str, key: RowKey | None, *, is_backwards: bool
) -> list["QuerySet[Any, Row]"]:
    """What lies beyond the key: rows with a time, which an index has in order, and rows without one."""
    sign, than = ("", "gt") if is_backwards else ("-", "lt")
    dated, undated = rows.order_by(f"{sign}{at}", f"{sign}pk"), []
    if rows.model._meta.get_field(at).null:  # noqa: SLF001
        dated = dated.filter(**{f"{at}__isnull": False})
        undated = [rows.filter(**{f"{at}__isnull": True}).order_by(f"{sign}pk")]
    if key is None:
        return [dated, *undated]
    if key[0] is None:
        undated = [part.filter(**{f"pk__{than}": key[1]}) for part in undated]
        return [*undated, dated] if is_backwards else undated
    # The first condition alone is what an index can be entered by.
    beyond = Q(**{f"{at}__{than}": key[0]}) | Q(**{at: key[0], f"pk__{than}": key[1]})
    dated = dated.filter(**{f"{at}__{than}e": key[0]}).filter(beyond)
    return [dated] if is_backwards else [dated, *undated]
