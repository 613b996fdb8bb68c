"""What an order of the list must be, whichever database sorts it."""

from stackviz.pages.accelerators.list_query import ListQuery
from stackviz.pages.accelerators.list_search import Search, listed_field
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.figures import choose_headline


def assert_the_order_is_that_of_the_figures_shown(key: str) -> None:
    """Both ways: amounts in order, what shows no figure last and counted."""
    for sort in (key, f"-{key}"):
        search = Search(ListQuery(sort=sort))
        found, counts = search.ordered(), search.counted()
        assert len(found) == counts.matching
        if key not in FIELDS or key == "vendor":
            continue
        field = listed_field(FIELDS[key])
        shown = [choose_headline(field, search.catalogue.preferred(item.pk, key)) for item in found]
        assert [one.is_published for one in shown] == [True] * counts.known + [False] * counts.unknown, sort
        amounts = [one.amount for one in shown[: counts.known] if one.amount is not None]
        assert amounts == sorted(amounts, reverse=sort.startswith("-")), sort
