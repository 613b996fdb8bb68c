"""Feeds against the tables: a recorded month, and a server that fails in every way."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command

from stackviz.desk.freshness.check_feeds import TableDifference, check_feed, due_feeds, store_proposals
from stackviz.desk.freshness.feeds import feeds
from stackviz.desk.freshness.fetch import Answer, FetchError, fetch
from stackviz.desk.freshness.models import FeedCheck, ProposedChange
from stackviz.desk.freshness.release_lists import KINDS
from stackviz.desk.freshness.tasks import check_due_feeds
from stackviz.records.stacks.models import Release, TableCheck
from stackviz.records.stacks.table_checks import checked_tables
from tests.desk.freshness.conftest import MONTH, package_feed, released_in
from tests.desk.freshness.server import cut_off, drip, hang, serving

pytestmark = pytest.mark.django_db


def index(*versions: str, day: str = "2026-11-20") -> bytes:
    files = [
        {"filename": f"torch-{version}-cp312-none-any.whl", "upload-time": f"{day}T08:00:00Z"} for version in versions
    ]
    return json.dumps({"files": files}).encode()


def waiting() -> list[str]:
    return sorted(str(change) for change in ProposedChange.objects.filter(state="waiting"))


def test_feeds_name_components_and_formats_that_exist(stacks):
    from stackviz.records.stacks.models import Component

    components = set(Component.objects.values_list("slug", flat=True))
    assert {feed.component for feed in feeds()} <= components
    assert {feed.kind for feed in feeds()} <= KINDS
    assert len({feed.key for feed in feeds()}) == len(feeds())


def test_a_recorded_month_is_proposed_day_by_day_without_duplicates_or_misses(server, month):
    first, last = (date.fromisoformat(day) for day in MONTH)
    packages = [feed for feed in feeds() if feed.address in month]
    assert len(packages) == 13
    for days in range((last - first).days + 1):
        day = first + timedelta(days)
        for feed in packages:
            files = [file for file in month[feed.address]["files"] if file["upload-time"][:10] <= day.isoformat()]
            server.answer(f"/simple/{feed.address}/", json.dumps({"files": files}).encode())
        with time_machine.travel(datetime(day.year, day.month, day.day, 20, tzinfo=UTC), tick=False):
            for feed in packages:
                assert check_feed(feed).outcome == "read", feed.key
    truth = {
        (feed.component, ".".join(version.split(".")[: feed.depth or None]))
        for feed in packages
        for version in released_in(month[feed.address], MONTH[0], "2026-11-06")
        if ".post" not in version  # of a version that is there already
    }
    proposed = list(ProposedChange.objects.values_list("component", "version"))
    assert len(proposed) == len(set(proposed))
    assert set(proposed) == truth
    assert len(truth) > 10
    assert ("pytorch", "2.15.0") in truth
    assert not Release.objects.filter(version="2.15.0").exists()  # nothing changes without a person


def test_what_was_declined_is_not_proposed_again(server, month):
    server.answer("/simple/torch/", index("2.16.0"))
    check_feed(package_feed("torch"))
    ProposedChange.objects.update(state="declined", answer="a test", decided_at=datetime.now(UTC))
    check_feed(package_feed("torch"))
    assert ProposedChange.objects.count() == 1
    assert waiting() == []


def test_a_version_that_nobody_expects_waits_with_its_doubt(server, month):
    server.answer("/simple/torch/", index("99.0"))
    check_feed(package_feed("torch"))
    assert ProposedChange.objects.get().doubt.startswith("far above the newest known release")


def test_a_release_of_tomorrow_waits_with_its_doubt(server, month):
    server.answer("/simple/torch/", index("2.16.0", day="2099-01-01"))
    check_feed(package_feed("torch"))
    assert "is to come" in ProposedChange.objects.get().doubt


def test_prereleases_and_yanked_files_are_left_out(server, month):
    files = [
        {"filename": "torch-2.16.0rc1-cp312-none-any.whl", "upload-time": "2026-11-20T00:00:00Z"},
        {"filename": "torch-2.16.0.dev20261101-cp312-none-any.whl", "upload-time": "2026-11-20T00:00:00Z"},
        {"filename": "torch-2.17.0-cp312-none-any.whl", "upload-time": "2026-11-20T00:00:00Z", "yanked": "broken"},
        {"filename": "torch-2.15.0-cp312-none-any.whl", "upload-time": "2026-10-28T00:00:00Z"},
        {"filename": "../../etc/passwd", "upload-time": 7},
        "not an object",
    ]
    server.answer("/simple/torch/", json.dumps({"files": files}).encode())
    check_feed(package_feed("torch"))
    assert waiting() == ["pytorch 2.15.0"]


BAD = {
    "a web page": (b"<!DOCTYPE html><html><body>Sign in</body></html>", 200, "it is a web page"),
    "nothing": (b"", 200, "it is empty"),
    "no JSON": (b"{files: [", 200, "not in the format"),
    "another format": (b'{"releases": {"2.16": []}}', 200, "it has no list `files`"),
    "a list": (b"[]", 200, "it is JSON, but not an object"),
    "no release": (b'{"files": []}', 200, "it lists no release"),
    "deep JSON": (b"[" * 100_000, 200, "not in the format"),
    "not text": (bytes(range(256)), 200, "not in the format"),
    "an error": (b"oh", 500, "it answered 500"),
    "not found": (b"oh", 404, "it answered 404"),
    "too many requests": (b"oh", 429, "it answered 429"),
    "a forbidden page": (b"oh", 403, "it answered 403"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_changes_nothing_but_its_line(server, month, name):
    body, status, problem = BAD[name]
    server.answer("/simple/torch/", body, status)
    check = check_feed(package_feed("torch"))
    assert check.outcome == "failed"
    assert problem in check.problem
    assert check.answered_at is None
    assert ProposedChange.objects.count() == 0
    assert TableCheck.objects.count() == 0


def test_a_million_rows_are_refused(server, month):
    files = b",".join(b'{"filename":"torch-1.%d-x.whl"}' % number for number in range(400_000))
    server.answer("/simple/torch/", b'{"files":[' + files + b"]}")
    assert "lists more than 20,000 releases" in check_feed(package_feed("torch")).problem


def test_more_than_16_mib_are_not_read(server, month):
    server.answer("/simple/torch/", b" " * (17 * 2**20))
    assert check_feed(package_feed("torch")).problem == "more than 16 MiB"


def test_more_differences_than_a_month_can_have_are_refused(server, month):
    server.answer("/simple/torch/", index(*(f"3.{number}" for number in range(60))))
    assert "60 differences in one answer" in check_feed(package_feed("torch")).problem
    assert ProposedChange.objects.count() == 0


@pytest.mark.parametrize("behaviour", [drip, hang])
def test_a_slow_server_is_left_in_time(server, month, behaviour, monkeypatch):
    monkeypatch.setattr("stackviz.desk.freshness.fetch.WITHIN_S", 1)
    server.behave("/simple/torch/", behaviour)
    assert check_feed(package_feed("torch")).problem == "no whole answer within 1 s"


def test_a_cut_off_answer_is_no_answer(server, month):
    server.behave("/simple/torch/", cut_off)
    assert check_feed(package_feed("torch")).problem == "the connection was cut off"


def test_redirects_are_followed_a_few_times_and_never_to_files(server, month):
    server.answer("/simple/torch/", status=301, Location="/simple/torch2/")
    server.answer("/simple/torch2/", index("2.16.0"))
    assert check_feed(package_feed("torch")).outcome == "read"
    server.answer("/simple/torch/", status=302, Location="/simple/torch/")
    assert check_feed(package_feed("torch")).problem == "more than 5 redirects"
    for target in ("file:///etc/passwd", "ftp://example.org/", "http://user:secret@127.0.0.1/", ""):
        server.answer("/simple/torch/", status=302, Location=target)
        assert "leads to no web address" in check_feed(package_feed("torch")).problem, target
    server.answer("/simple/torch/", status=302, Location="//[")
    assert check_feed(package_feed("torch")).outcome == "failed"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "//[", "data:,x"])
def test_only_web_addresses_are_opened(url):
    with pytest.raises(FetchError, match="no web address"):
        fetch(url)


def test_no_address_of_a_private_network_is_read(server, month, settings):
    settings.WATCH_PRIVATE_NETWORK = False
    server.answer("/simple/torch/", index("2.16.0"))
    assert check_feed(package_feed("torch")).problem == "the address is in a private network"
    assert server.requests == []


def test_without_a_connection_the_site_says_so(server, month, settings, client):
    settings.WATCH = True
    settings.WATCH_PACKAGE_INDEX = "http://127.0.0.1:9"
    for name in ("torch", "vllm"):
        assert check_feed(package_feed(name)).outcome == "offline"
    assert "it has no internet connection" in client.get("/freshness/").content.decode()


def test_an_unchanged_feed_is_asked_with_its_etag_and_counts_as_checked(server, month):
    server.answer("/simple/torch/", index("2.15.0"), ETag='"one"')
    check_feed(package_feed("torch"))
    server.answer("/simple/torch/", b"", 304)
    check = check_feed(package_feed("torch"))
    assert server.headers[-1]["if-none-match"] == '"one"'
    assert (check.outcome, check.newest) == ("unchanged", "2.15.0")


def test_a_changed_table_is_compared_with_a_whole_answer(server, month):
    server.answer("/simple/torch/", index("2.15.0"), ETag='"one"')
    check_feed(package_feed("torch"))
    row = Release.objects.filter(component__slug="pytorch").first()
    Release.objects.create(component=row.component, version="2.15.1", source=row.source)
    check_feed(package_feed("torch"))
    assert "if-none-match" not in server.headers[-1]
    check_feed(package_feed("torch"))
    assert server.headers[-1]["if-none-match"] == '"one"'


def test_unchanged_is_no_answer_to_a_question_for_the_whole(server, month):
    server.answer("/simple/torch/", b"", 304)
    check = check_feed(package_feed("torch"))
    assert (check.outcome, check.problem) == ("failed", "it answered 304")
    assert TableCheck.objects.count() == 0


def test_a_date_that_changes_back_is_proposed_again(month):
    feed = next(feed for feed in feeds() if feed.key == "endoflife-python")
    days = ["2030-10-31", "2031-01-31", "2030-10-31"]
    for before, day in zip(["2030-10", *days], days, strict=False):
        difference = TableDifference(kind="support-ends", version="3.14", support_ends=day, before=before)
        assert [store_proposals(feed, [difference]) for _run in range(2)] == [1, 0]


@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_a_token_is_not_sent_to_another_server(server, is_elsewhere):
    with serving() as other:
        target = (other if is_elsewhere else server).answer("/there", b"text")
        asked = server.answer("/here", status=302, Location=target)
        fetch(asked, headers={"Authorization": "Bearer secret", "Accept": "text/plain"})
        reached = (other if is_elsewhere else server).headers[-1]
    assert server.headers[0]["authorization"] == "Bearer secret"
    assert reached.get("authorization") == (None if is_elsewhere else "Bearer secret")
    assert reached["accept"] == "text/plain"


def test_a_token_is_not_sent_in_the_clear(monkeypatch):
    sent = []

    def redirect(url, _method, headers, _watchdog):
        sent.append((url, dict(headers)))
        is_first = url.startswith("https:")
        return Answer(status=301 if is_first else 200, url=url, headers={"location": "http://example.org/"})

    monkeypatch.setattr("stackviz.desk.freshness.fetch._request", redirect)
    fetch("https://example.org/", headers={"Authorization": "Bearer secret"})
    assert sent == [("https://example.org/", {"Authorization": "Bearer secret"}), ("http://example.org/", {})]


def test_the_command_refuses_a_feed_that_is_not_there(db):
    with pytest.raises(CommandError, match="invalid choice: 'torch'"):
        call_command("watch_now", "--feed", "torch")


def test_a_read_feed_makes_the_table_fresh(server, month):
    before = checked_tables()["releases/pytorch"]
    with time_machine.travel("2027-06-01T12:00:00Z"):
        assert before.is_stale(date(2027, 6, 1))
        server.answer("/simple/torch/", index("2.15.0"))
        check_feed(package_feed("torch"))
        after = checked_tables()["releases/pytorch"]
    assert (after.checked_on, after.against) == (date(2027, 6, 1), "PyTorch in the package index")
    assert not after.is_stale(date(2027, 7, 1))


def test_nothing_is_asked_while_it_is_off(server, month, settings):
    settings.WATCH = False
    assert check_due_feeds() == "off"
    assert server.requests == []


def test_each_feed_is_due_once_a_day(month, settings):
    settings.WATCH_PACKAGE_INDEX = "http://127.0.0.1:9"
    now = datetime(2026, 11, 24, tzinfo=UTC)
    assert len(due_feeds(now)) == len(feeds())
    FeedCheck.objects.create(feed="package-torch", outcome="read", checked_at=now - timedelta(hours=23))
    assert "package-torch" not in {feed.key for feed in due_feeds(now)}
    assert "package-torch" in {feed.key for feed in due_feeds(now + timedelta(hours=2))}


def test_feeds_of_packages_need_an_index(month, settings):
    settings.WATCH_PACKAGE_INDEX = ""
    assert not any(feed.key.startswith("package-") for feed in due_feeds(datetime.now(UTC)))
