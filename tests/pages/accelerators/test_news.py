"""What is new: first on `/changes/` and in its feed, by kind, none of it empty."""

import re
from datetime import date

import pytest

from stackviz.pages.accelerators import news
from stackviz.pages.accelerators.news import new_accelerators, new_results, read_news
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import public_results

TODAY = "2026-11-29"


def dated(card, source, day: str, condition: str = "") -> None:
    SpecValue.objects.create(
        accelerator=card,
        field="release_date",
        value=day,
        condition=condition,
        source=source,
        status="public",
        is_preferred=True,
    )


def test_what_is_announced_is_news_and_what_is_planned_is_not(card, sheet_source):
    dated(card, sheet_source, "2026-11", "event=announced")
    dated(card, sheet_source, "2027-03", "event=planned")
    found = {today: new_accelerators(public_catalogue(), today) for today in (TODAY, "2026-10-31")}
    mine = {today: [item for item in items if item.subject == "Acme One"] for today, items in found.items()}
    assert [(item.day, str(item.happened)) for item in mine[TODAY]] == [("2026-11", "announced")]
    assert mine["2026-10-31"] == []


def test_a_kind_without_news_has_no_part(card, sheet_source, monkeypatch):
    dated(card, sheet_source, "2026-11-02")
    monkeypatch.setattr(news, "new_hosts", list)
    monkeypatch.setattr(news, "new_results", lambda _today: [])
    assert {part.key for part in read_news(TODAY)} <= {"accelerators", "releases"}
    assert all(part.items for part in read_news(TODAY))


EVERYTHING = pytest.mark.usefixtures("curated", "cited", "db")


@EVERYTHING
def test_news_come_first_and_read_two_tables(client, django_assert_num_queries):
    text = client.get("/changes/").content.decode()
    places = [text.index(f'id="{key}"') for key in ("new-accelerators", "new-releases", "new-results", "new-hosts")]
    assert places == sorted(places)
    assert places[-1] < text.index('id="corrected"')
    assert re.search(r"<li>\s*<time[^>]*>[\d-]+</time>", text)
    assert 'id="new-' not in client.get("/changes/?vendor=apple").content.decode()
    parts = read_news(TODAY)
    with django_assert_num_queries(2) as queries:
        news.new_results(TODAY)
        news.new_hosts()
    assert all("LIMIT" in query["sql"] for query in queries)
    assert all(part.days == sorted(part.days, key=lambda row: row[0], reverse=True) for part in parts)


@EVERYTHING
def test_a_day_that_is_not_read_whole_is_left_out(monkeypatch):
    whole = new_results(TODAY)
    newest = date.fromisoformat(whole[0].day)
    monkeypatch.setattr(news, "NEWEST_RESULTS", public_results().filter(date__gte=newest).count() + 1)
    assert [item.day for item in new_results(TODAY)] == [item.day for item in whole if item.day == str(newest)]


@EVERYTHING
def test_the_feed_of_everything_has_news(client):
    newest = read_news(TODAY)[0].items[0]
    feed = client.get("/changes/feed/").content.decode()
    assert f"<title>{newest.subject}: {newest.happened}</title>" in feed
    assert feed.count("<guid") == len(set(re.findall(r"<guid[^>]*>([^<]+)<", feed)))
    assert "new-accelerators" not in client.get("/changes/feed/?vendor=apple").content.decode()
