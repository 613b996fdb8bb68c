"""Long lists in pages by key: every row once, in both directions, without OFFSET and without counting."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.web.paging import Cut, cut_of, key_page, key_text, page_cut
from tests.pages.machines.factories import make_lab, make_machine, make_report

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def machines(db):
    """Twelve machines: some that reported at the same time, some that never did."""
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    times = [START + timedelta(hours=hour) for hour in (5, 4, 4, 4, 3, 2, 1)] + [None] * 5
    for number, at in enumerate(times):
        Machine.objects.create(lab=lab, slug=f"m-{number}", name=f"m-{number}", latest_taken_at=at)
    return sorted(Machine.objects.all(), key=lambda m: (m.latest_taken_at or START, m.pk), reverse=True)


def page(cut, per_page):
    return key_page(Machine.objects.all(), "latest_taken_at", cut, per_page, lambda m: (m.latest_taken_at, m.pk))


@pytest.mark.parametrize("per_page", [1, 2, 3, 5, 12, 20])
def test_pages_lead_through_every_row_once_and_back(machines, per_page):
    shown, cut = [page(Cut(), per_page)], None
    while shown[-1].after:
        cut = cut_of(shown[-1].after)
        shown.append(page(cut, per_page))
    assert [machine for each in shown for machine in each.items] == machines
    back = [shown[-1]]
    while back[-1].before:
        back.append(page(cut_of(back[-1].before), per_page))
    assert [each.items for each in reversed(back)] == [each.items for each in shown]


def test_a_row_that_arrives_moves_nothing(machines):
    first = page(Cut(), 3)
    Machine.objects.create(
        lab=machines[0].lab, slug="new", name="new", latest_taken_at=machines[0].latest_taken_at + timedelta(hours=1)
    )
    assert page(cut_of(first.after), 3).items == machines[3:6]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_numbers_of_earlier_addresses_are_answered(machines, number):
    cut = page_cut(RequestFactory().get("/", {"page": str(number)}), 5)
    shown = page(cut, 5)
    assert list(shown.items) == machines[5 * (number - 1) : 5 * number]
    assert bool(shown.before) == (number > 1)


@pytest.mark.parametrize(
    "text", ["", "x", "101", "after.x.1", "after..", "after.99999999999999999999.1", "sideways.1.1", "after.1.1\n"]
)
def test_what_makes_no_sense_is_the_first_page(machines, text):
    assert list(page(page_cut(RequestFactory().get("/", {"page": text}), 5), 5).items) == machines[:5]


@pytest.mark.parametrize("text", ["after.1.99999999999999999999", "after.1.ab-c", "before.-99999999999999999.1"])
def test_a_key_that_no_row_can_have_breaks_nothing(machines, text):
    assert page(page_cut(RequestFactory().get("/", {"page": text}), 5), 5).items


def test_a_key_survives_its_address(machines):
    for machine in machines:
        key = machine.latest_taken_at, machine.pk
        assert cut_of(key_text("after", key)) == Cut(key=(key[0], str(key[1])))


def addresses_of_long_lists(client):
    """Each long list from its first page on, by the links it offers."""
    lab = make_lab()
    for number in range(61):
        make_machine(lab, f"node-{number:02}")
    machine = make_machine(lab, "dgx-07")
    for number in range(41):
        make_report(machine, at=START + timedelta(days=number))
    for url in ("/machines/", "/machines/?q=n", "/machines/north/", "/machines/north/dgx-07/"):
        yield url
        text = client.get(url).content.decode()
        query = text.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
        yield url.partition("?")[0] + query.partition("#")[0]
    following = client.get("/api/v1/machines/?limit=20").json()["next"]
    assert len(client.get(following).json()["items"]) == 20
    yield following


def test_no_long_list_skips_rows_or_counts_them(client, db):
    for url in list(addresses_of_long_lists(client)):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(url).status_code == 200
        statements = [query["sql"].upper() for query in captured.captured_queries]
        assert any("LIMIT" in sql for sql in statements), url
        for sql in statements:
            assert "OFFSET" not in sql, (url, sql)
            for table in (Report, Machine):
                is_counted = "COUNT(" in sql and f'FROM "{table._meta.db_table}"'.upper() in sql
                assert not is_counted or "LIMIT 10001" in sql, (url, sql)
