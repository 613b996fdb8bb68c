"""Links of sources: dead ones are found, robots and slow servers respected, and a site without internet counts nothing."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from stackviz.desk.freshness.check_links import check_addresses, due_links
from stackviz.desk.freshness.models import LinkCheck, ProposedChange
from stackviz.desk.freshness.tasks import check_due_links
from stackviz.records.catalog.models import Source
from tests.desk.freshness.server import hang, send

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 11, 24, 9, tzinfo=UTC)


def add_source(url: str) -> Source:
    return Source.objects.create(key=f"source-{Source.objects.count()}", title=url, url=url)


def outcomes_on(day: datetime) -> set[str]:
    return set(run_on(day).values())


def run_on(day: datetime) -> dict[str, str]:
    """All that is due on that day: of one host one link a run."""
    with time_machine.travel(day, tick=False):
        while check_addresses(10):
            pass
    return dict(LinkCheck.objects.values_list("url", "outcome"))


def test_dead_links_are_found_and_proposed_after_two_days(server):
    for number in range(50):
        add_source(server.answer(f"/page{number}", b"text"))
    dead = {add_source(f"{server.url}/gone{number}").url for number in range(8)}
    dead |= {add_source(server.answer(f"/away{number}", status=410)).url for number in range(2)}
    outcomes = run_on(DAY)
    assert {url for url, outcome in outcomes.items() if outcome == "dead"} == dead
    assert len(outcomes) == 60
    assert ProposedChange.objects.count() == 0  # a bad day is not the end
    run_on(DAY + timedelta(days=1))
    run_on(DAY + timedelta(days=2))
    assert set(ProposedChange.objects.filter(kind="dead").values_list("url", flat=True)) == dead
    assert ProposedChange.objects.count() == 10
    assert Source.objects.filter(url__in=dead).count() == 10  # nothing changes without a person


def test_only_failing_links_are_asked_again_the_next_day(server):
    add_source(server.answer("/well", b"text"))
    add_source(f"{server.url}/gone")
    run_on(DAY)
    server.requests.clear()
    run_on(DAY + timedelta(days=1))
    assert [path for _method, path in server.requests if path != "/robots.txt"] == ["/gone"]
    run_on(DAY + timedelta(days=15))
    assert ("HEAD", "/well") in server.requests


def test_a_link_that_comes_back_is_alive_again(server):
    url = add_source(f"{server.url}/back").url
    run_on(DAY)
    server.answer("/back", b"text")
    run_on(DAY + timedelta(days=1))
    check = LinkCheck.objects.get(url=url)
    assert (check.outcome, check.failing_since, check.failures) == ("alive", None, 0)
    assert ProposedChange.objects.count() == 0


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "alive"), (302, "alive"), (401, "refused"), (403, "refused"), (429, "refused"), (500, "unreachable")],
)
def test_what_is_not_dead(server, status, outcome):
    """302: a page that is elsewhere for a while has not moved."""
    server.answer("/new", b"text")
    add_source(server.answer("/page", b"text", status, Location="/new"))
    assert outcomes_on(DAY) == {outcome}
    assert not ProposedChange.objects.exists()


def test_a_server_that_does_not_know_head_is_asked_for_one_byte(server):
    def only_get(handler):
        send(handler, b"text", 200 if handler.command == "GET" else 405)

    add_source(server.behave("/page", only_get))
    assert outcomes_on(DAY) == {"alive"}
    assert server.headers[-1]["range"] == "bytes=0-0"


def test_a_login_is_no_document(server):
    add_source(server.answer("/paper.pdf", status=302, Location="/account/login?next=/paper.pdf"))
    server.answer("/account/login?next=/paper.pdf", b"who are you?")
    assert outcomes_on(DAY) == {"login"}
    run_on(DAY + timedelta(days=1))
    change = ProposedChange.objects.get()
    assert (change.kind, change.before) == ("dead", "it leads to a login")


def test_a_page_that_moved_is_proposed_with_its_new_address(server):
    source = add_source(server.answer("/old", status=301, Location="/new"))
    server.answer("/new", b"text")
    run_on(DAY)
    run_on(DAY + timedelta(days=15))
    change = ProposedChange.objects.get()
    assert (change.kind, change.url, change.new_url) == ("moved", source.url, f"{server.url}/new")


def test_robots_txt_is_respected_and_read_once(server):
    server.answer("/robots.txt", b"User-agent: *\nDisallow: /private\n\nUser-agent: accelweb-watch\nDisallow: /ours\n")
    add_source(server.answer("/ours/page", b"text"))
    assert outcomes_on(DAY) == {"refused"}
    assert server.requests == [("GET", "/robots.txt")]
    add_source(server.answer("/private/page", b"text"))
    assert "alive" in run_on(DAY).values()
    assert server.requests.count(("GET", "/robots.txt")) == 1


RULES = ["Crawl-delay: ²", "Request-rate: ²/1", "Disallow: //[", f"Crawl-delay: {'9' * 5000}"]


@pytest.mark.parametrize("rules", RULES, ids=["delay", "rate", "address", "digits"])
def test_rules_that_cannot_be_read_end_no_run(server, rules):
    server.answer("/robots.txt", f"User-agent: *\n{rules}".encode())
    add_source(server.answer("/page", b"text"))
    assert outcomes_on(DAY) <= {"refused", "alive"}
    assert LinkCheck.objects.count() == 1


def test_a_failing_or_slow_server_is_left_alone(server, monkeypatch):
    monkeypatch.setattr("stackviz.desk.freshness.fetch.WITHIN_S", 1)
    source = add_source(server.behave("/page", hang))
    assert outcomes_on(DAY) == {"unreachable"}
    LinkCheck.objects.all().delete()
    source.delete()
    server.answer("/robots.txt", b"", 503)
    add_source(server.answer("/other", b"text"))
    assert "refused" in outcomes_on(DAY + timedelta(days=2))


def test_no_answer_is_proposed_after_a_fortnight(server):
    add_source(server.answer("/page", status=503))
    for days in range(14):
        run_on(DAY + timedelta(days=days))
    assert ProposedChange.objects.count() == 0
    run_on(DAY + timedelta(days=14))
    assert ProposedChange.objects.get().before == "it answers 503"


def test_without_a_connection_nothing_is_counted(settings):
    """Where a host answered before it is asked in vain."""
    settings.WATCH_PRIVATE_NETWORK = True
    add_source("http://127.0.0.1:9/page")
    assert run_on(DAY) == {}
    add_source("http://127.0.0.1:8/page")
    before = DAY - timedelta(days=2)
    LinkCheck.objects.create(url="http://127.0.0.1:9/page", outcome="alive", checked_at=before, answered_at=before)
    assert run_on(DAY) == {"http://127.0.0.1:9/page": "alive"}


@pytest.mark.parametrize("has_answered", [True, False])
def test_dead_hosts_at_the_head_do_not_end_the_checks(server, has_answered):
    live = add_source(server.answer("/page", b"text")).url
    dead = {add_source(f"http://127.0.0.1:{port}/page").url for port in (1, 2, 3)}
    if has_answered:
        before = DAY - timedelta(days=20)
        LinkCheck.objects.create(url=live, outcome="alive", checked_at=before, answered_at=before)
    with time_machine.travel(DAY, tick=False):
        assert {check.url for check in check_addresses(3)} == dead
        assert [check.url for check in check_addresses(3)] == [live]
    outcomes = dict(LinkCheck.objects.values_list("url", "outcome"))
    assert outcomes == {live: "alive", **dict.fromkeys(dead, "unreachable")}


def test_an_address_that_was_corrected_is_forgotten(server):
    source = add_source(f"{server.url}/gone")
    run_on(DAY)
    source.url = server.answer("/there", b"text")
    source.save()
    assert run_on(DAY + timedelta(days=1)) == {source.url: "alive"}


def test_one_run_asks_each_host_and_page_once(server, settings):
    server.answer("/page", b"text")
    for place in ("#one", "#two", "", "2"):
        add_source(f"{server.url}/page{place}")
    assert len(due_links(DAY, 10)) == 1
    assert run_on(DAY) == {f"{server.url}/page": "alive", f"{server.url}/page2": "dead"}
    settings.WATCH = False
    server.requests.clear()
    assert check_due_links() == "off"
    assert server.requests == []
