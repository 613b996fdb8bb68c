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


def run_on(day: datetime) -> dict[str, str]:
    """All that is due on that day: of one host one link a run."""
    with time_machine.travel(day, tick=False):
        while check_addresses(10):
            pass
    return dict(LinkCheck.objects.values_list("url", "outcome"))


def test_ten_dead_links_among_sixty_are_found_and_proposed_after_two_days(server):
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
    ("status", "outcome"), [(200, "alive"), (401, "refused"), (403, "refused"), (429, "refused"), (500, "unreachable")]
)
def test_what_is_not_dead(server, status, outcome):
    add_source(server.answer("/page", b"text", status))
    assert set(run_on(DAY).values()) == {outcome}


def test_a_server_that_does_not_know_head_is_asked_for_one_byte(server):
    def only_get(handler):
        send(handler, b"text", 200 if handler.command == "GET" else 405)

    add_source(server.behave("/page", only_get))
    assert set(run_on(DAY).values()) == {"alive"}
    assert server.headers[-1]["range"] == "bytes=0-0"


def test_a_login_is_no_document(server):
    add_source(server.answer("/paper.pdf", status=302, Location="/account/login?next=/paper.pdf"))
    server.answer("/account/login?next=/paper.pdf", b"who are you?")
    assert set(run_on(DAY).values()) == {"login"}
    run_on(DAY + timedelta(days=1))
    change = ProposedChange.objects.get()
    assert (change.kind, change.before) == ("dead", "it leads to a login")


def test_a_page_that_moved_for_good_is_proposed_with_its_new_address(server):
    source = add_source(server.answer("/old", status=301, Location="/new"))
    server.answer("/new", b"text")
    run_on(DAY)
    run_on(DAY + timedelta(days=15))
    change = ProposedChange.objects.get()
    assert (change.kind, change.url, change.new_url) == ("moved", source.url, f"{server.url}/new")


def test_a_page_that_is_elsewhere_for_a_while_has_not_moved(server):
    add_source(server.answer("/old", status=302, Location="/new"))
    server.answer("/new", b"text")
    assert set(run_on(DAY).values()) == {"alive"}


def test_robots_txt_is_respected_and_read_once(server):
    server.answer("/robots.txt", b"User-agent: *\nDisallow: /private\n\nUser-agent: accelweb-watch\nDisallow: /ours\n")
    add_source(server.answer("/ours/page", b"text"))
    assert set(run_on(DAY).values()) == {"refused"}
    assert server.requests == [("GET", "/robots.txt")]
    add_source(server.answer("/private/page", b"text"))
    assert "alive" in run_on(DAY).values()
    assert server.requests.count(("GET", "/robots.txt")) == 1


def test_a_server_that_fails_to_give_its_rules_is_left_alone(server):
    server.answer("/robots.txt", b"", 503)
    add_source(server.answer("/page", b"text"))
    assert set(run_on(DAY).values()) == {"refused"}


@pytest.mark.parametrize(
    "rules",
    [
        "User-agent: *\nCrawl-delay: ²",
        "User-agent: *\nRequest-rate: ²/1",
        "User-agent: *\nDisallow: //[",
        f"User-agent: *\nCrawl-delay: {'9' * 5000}",
    ],
    ids=["delay", "rate", "address", "digits"],
)
def test_rules_that_cannot_be_read_end_no_run(server, rules):
    server.answer("/robots.txt", rules.encode())
    add_source(server.answer("/page", b"text"))
    assert set(run_on(DAY).values()) <= {"refused", "alive"}
    assert LinkCheck.objects.count() == 1


def test_a_slow_server_is_left_in_time(server, monkeypatch):
    monkeypatch.setattr("stackviz.desk.freshness.fetch.WITHIN_S", 1)
    add_source(server.behave("/page", hang))
    assert set(run_on(DAY).values()) == {"unreachable"}


def test_no_answer_is_proposed_after_a_fortnight(server):
    add_source(server.answer("/page", status=503))
    for days in range(14):
        run_on(DAY + timedelta(days=days))
    assert ProposedChange.objects.count() == 0
    run_on(DAY + timedelta(days=14))
    assert ProposedChange.objects.get().before == "it answers 503"


def test_without_a_connection_nothing_is_counted(settings):
    settings.WATCH_PRIVATE_NETWORK = True
    add_source("http://127.0.0.1:9/page")
    assert run_on(DAY) == {}


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


def test_without_a_connection_a_host_that_answered_before_is_asked_in_vain(settings):
    settings.WATCH_PRIVATE_NETWORK = True
    for port in (8, 9):
        add_source(f"http://127.0.0.1:{port}/page")
    before = DAY - timedelta(days=2)
    LinkCheck.objects.create(url="http://127.0.0.1:9/page", outcome="alive", checked_at=before, answered_at=before)
    assert run_on(DAY) == {"http://127.0.0.1:9/page": "alive"}


def test_an_address_that_was_corrected_is_forgotten(server):
    source = add_source(f"{server.url}/gone")
    run_on(DAY)
    source.url = server.answer("/there", b"text")
    source.save()
    assert run_on(DAY + timedelta(days=1)) == {source.url: "alive"}


def test_one_run_asks_each_host_once(server):
    for number in range(5):
        add_source(server.answer(f"/page{number}", b"text"))
    assert len(due_links(DAY, 10)) == 1


def test_places_within_a_page_are_one_link(server):
    server.answer("/page", b"text")
    for place in ("#one", "#two", ""):
        add_source(f"{server.url}/page{place}")
    assert run_on(DAY) == {f"{server.url}/page": "alive"}


def test_nothing_is_asked_while_it_is_off(server, settings):
    settings.WATCH = False
    add_source(f"{server.url}/page")
    assert check_due_links() == "off"
    assert server.requests == []
