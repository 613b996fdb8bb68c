"""Lists in pages: nothing is counted, bad page numbers are page one."""

import pytest
from django.test import RequestFactory

from stackviz.web.paging import page_as, page_number, page_of


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), ("", 1), ("0", 1), ("-2", 1), ("x", 1), ("1e9", 1), ("٣", 1), ("99999999999999", 1), ("10000", 10_000)],
)
def test_a_page_number_that_makes_no_sense_is_page_one(text, number):
    assert page_number(RequestFactory().get("/", {"page": text})) == number


def test_a_page_knows_its_neighbours_and_its_place():
    page = page_of(list(range(25)), 2, 10)
    assert (list(page.items), page.first, page.last) == (list(range(10, 20)), 11, 20)
    assert (page.before, page.after, page.is_only) == ("1", "3", False)
    assert page_of(list(range(20)), 2, 10).after == ""
    beyond = page_of([1], 7, 10)
    assert (list(beyond.items), beyond.before, beyond.first, beyond.last) == ([], "6", 0, 0)
    assert page_of([1, 2], 1, 10).is_only
    assert page_as(page_of([1, 2, 3], 1, 2), str).items == ["1", "2"]


def test_a_page_costs_one_query(django_assert_num_queries, django_user_model, db):
    with django_assert_num_queries(1):
        page_of(django_user_model.objects.order_by("pk"), 1, 10)
