"""`/freshness/`, its API, and the marks on pages that use a stale table."""

import re
from datetime import UTC, datetime

import pytest
import time_machine

from stackviz.desk.freshness.models import FeedCheck, LinkCheck, ProposedChange
from stackviz.records.stacks.models import Component, TableCheck
from stackviz.records.stacks.table_checks import TITLES, checked_tables

pytestmark = pytest.mark.django_db
LONG_AFTER = "2029-01-01T12:00:00Z"


def test_tables_are_those_that_exist(stacks):
    components = set(Component.objects.values_list("slug", flat=True))
    for table in checked_tables():
        assert table in TITLES or table.removeprefix("releases/") in components, table


def test_each_table_says_when_it_was_checked_against_what(client, stacks):
    with time_machine.travel("2026-11-25T12:00:00Z"):
        page = client.get("/freshness/").content.decode()
    assert "1 table is stale" in page  # the cited results, of which this database has none
    assert re.search(r'Releases of PyTorch</th>.*?Newest seen"> *<span class="mono">2\.15\.0</span>', page, re.DOTALL)
    assert "its release matrix, and metadata of its packages" in page
    assert "This site does not watch feeds and links by itself." in page


def test_the_page_costs_the_same_whatever_is_stored(client, stacks, django_assert_num_queries):
    client.get("/freshness/")
    now = datetime.now(UTC)
    with django_assert_num_queries(5):
        client.get("/freshness/")
    for number in range(150):
        url = f"https://example.org/{number}"
        LinkCheck.objects.create(url=url, outcome="dead", status=404, checked_at=now, failing_since=now)
        ProposedChange.objects.create(key=url, kind="dead", url=url)
    FeedCheck.objects.create(feed="package-torch", outcome="failed", problem="it answered 500", checked_at=now)
    with django_assert_num_queries(5):
        page = client.get("/freshness/").content.decode()
    assert page.count("https://example.org/") <= 220  # the first hundred, with text and address
    assert "150 proposed changes wait for a person" in page
    assert "it answered 500" in page


def test_proposals_are_not_public_and_addresses_escaped(client, stacks):
    now = datetime.now(UTC)
    ProposedChange.objects.create(key="x", kind="release", component="pytorch", version="99.7")
    address = "https://example.org/<script>alert(1)</script>"
    LinkCheck.objects.create(url=address, outcome="dead", problem="<b>", checked_at=now, failing_since=now)
    page = client.get("/freshness/").content.decode()
    assert ("99.7" in page, "<script>alert(1)" in page) == (False, False)
    assert "<b>" not in page.partition('<h2 id="links">')[2]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/components/pytorch/", "Releases of PyTorch: not checked since"),
        ("/stacks/nvidia-cuda/support/", "Releases of PyTorch: not checked since"),
        ("/operators/", "Operators: not checked since"),
        ("/claims/", "Claims: not checked since"),
        ("/timeline/", "Timeline: not checked since"),
        ("/plan/?accelerator=nvidia-t4&system=linux-x86_64", "Releases of PyTorch: not checked since"),
        ("/fit/", "Language models: not checked since"),
    ],
)
def test_pages_mark_what_is_stale(client, curated, path, says):
    with time_machine.travel("2026-11-25T12:00:00Z"):
        assert "not checked since" not in client.get(path).content.decode()
    with time_machine.travel(LONG_AFTER):
        assert says in client.get(path).content.decode()


def test_a_check_of_this_site_counts_from_its_day_on(client, stacks):
    TableCheck.objects.create(table="releases/pytorch", checked_on="2028-12-20", against="a feed")
    with time_machine.travel(LONG_AFTER):
        assert "not checked since" not in client.get("/components/pytorch/").content.decode()
        rows = {row["table"]: row for row in client.get("/api/v1/freshness/").json()["items"]}
    assert rows["releases/pytorch"] == {
        "table": "releases/pytorch",
        "title": "Releases of PyTorch",
        "checked_on": "2028-12-20",
        "valid_until": "2029-02-18",
        "against": "a feed",
        "is_stale": False,
    }
    assert rows["claims"]["is_stale"]
