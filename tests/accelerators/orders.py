"""What an order of the list must be, whichever database sorts it."""

from stackviz.accelerators.list_query import ListQuery
from stackviz.accelerators.list_rows import values_by_cell
from stackviz.accelerators.list_search import counted, found_accelerators
from stackviz.catalog.fields import FIELDS
from stackviz.catalog.queries import headline


def assert_the_order_is_that_of_the_figures_shown(key: str) -> None:
    """Both ways: amounts in order, what shows no figure last and counted."""
    for sort in (key, f"-{key}"):
        found = list(found_accelerators(ListQuery(sort=sort)))
        counts = counted(ListQuery(sort=sort))
        assert len(found) == counts.found
        if key not in FIELDS or key == "vendor":
            continue
        values = values_by_cell(found, [key])
        shown = [headline(FIELDS[key], values.get((item.pk, key), ())) for item in found]
        assert [one.is_published for one in shown] == [True] * counts.known + [False] * counts.unknown, sort
        amounts = [one.amount for one in shown[: counts.known] if one.amount is not None]
        assert amounts == sorted(amounts, reverse=sort.startswith("-")), sort
