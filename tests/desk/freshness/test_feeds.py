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


def check_torch(server, body: bytes = b"", status: int = 200, **headers: str) -> FeedCheck:
    """Check the feed of torch against this answer."""
    server.answer("/simple/torch/", body, status, **headers)
    return check_feed(package_feed("torch"))


def test_feeds_name_components_and_formats_that_exist(stacks):
    from stackviz.records.stacks.models import Component

    components = set(Component.objects.values_list("slug", flat=True))
    assert {feed.component for feed in feeds()} <= components
    assert {feed.kind for feed in feeds()} <= KINDS
    assert len({feed.key for feed in feeds()}) == len(feeds())


def test_a_recorded_month_is_proposed_day_by_day(server, month):
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
    check_torch(server, index("2.16.0"))
    ProposedChange.objects.update(state="declined", answer="a test", decided_at=datetime.now(UTC))
    check_torch(server, index("2.16.0"))
    assert (ProposedChange.objects.count(), waiting()) == (1, [])


@pytest.mark.parametrize(
    ("version", "day", "doubt"),
    [("99.0", "2026-11-20", "far above the newest known release"), ("2.16.0", "2099-01-01", "is to come")],
)
def test_an_unlikely_version_waits_with_its_doubt(server, month, version, day, doubt):
    check_torch(server, index(version, day=day))
    assert doubt in ProposedChange.objects.get().doubt


def test_prereleases_and_yanked_files_are_left_out(server, month):
    files = [
        {"filename": "torch-2.16.0rc1-cp312-none-any.whl", "upload-time": "2026-11-20T00:00:00Z"},
        {"filename": "torch-2.16.0.dev20261101-cp312-none-any.whl", "upload-time": "2026-11-20T00:00:00Z"},
        {"filename": "torch-2.17.0-cp312-none-any.whl", "upload-time": "2026-11-20T00:00:00Z", "yanked": "broken"},
        {"filename": "torch-2.15.0-cp312-none-any.whl", "upload-time": "2026-10-28T00:00:00Z"},
        {"filename": "../../etc/passwd", "upload-time": 7},
        "not an object",
    ]
    check_torch(server, json.dumps({"files": files}).encode())
    assert waiting() == ["pytorch 2.15.0"]


MANY_FILES = b'{"files":[%s]}' % b",".join(b'{"filename":"torch-1.%d-x.whl"}' % number for number in range(400_000))
BAD = {
    "a web page": (b"<!DOCTYPE html><html><body>Sign in</body></html>", 200, "it is a web page"),
    "nothing": (b"", 200, "it is empty"),
    "no JSON": (b"{files: [", 200, "not in the format"),
    "another format": (b'{"releases": {"2.16": []}}', 200, "it has no list `files`"),
    "a list": (b"[]", 200, "it is JSON, but not an object"),
    "no release": (b'{"files": []}', 200, "it lists no release"),
    "deep JSON": (b"[" * 100_000, 200, "not in the format"),
    "not text": (bytes(range(256)), 200, "not in the format"),
    **{f"status {status}": (b"oh", status, f"it answered {status}") for status in (403, 404, 429, 500)},
    "no change to a question for the whole": (b"", 304, "it answered 304"),
    "many rows": (MANY_FILES, 200, "lists more than 20,000 releases"),
    "17 MiB": (b" " * (17 * 2**20), 200, "more than 16 MiB"),
    "many differences": (index(*(f"3.{number}" for number in range(60))), 200, "60 differences in one answer"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_changes_nothing_but_its_line(server, month, name):
    body, status, problem = BAD[name]
    check = check_torch(server, body, status)
    assert (check.outcome, check.answered_at) == ("failed", None)
    assert problem in check.problem
    assert (ProposedChange.objects.count(), TableCheck.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (drip, "no whole answer within 1 s"),
        (hang, "no whole answer within 1 s"),
        (cut_off, "the connection was cut off"),
    ],
)
def test_a_slow_or_broken_server_is_left_in_time(server, month, behaviour, problem, monkeypatch):
    monkeypatch.setattr("stackviz.desk.freshness.fetch.WITHIN_S", 1)
    server.behave("/simple/torch/", behaviour)
    assert check_feed(package_feed("torch")).problem == problem


def test_redirects_are_followed_a_few_times_and_never_to_files(server, month):
    server.answer("/simple/torch2/", index("2.16.0"))
    assert check_torch(server, status=301, Location="/simple/torch2/").outcome == "read"
    assert check_torch(server, status=302, Location="/simple/torch/").problem == "more than 5 redirects"
    for target in ("file:///etc/passwd", "ftp://example.org/", "http://user:secret@127.0.0.1/", ""):
        assert "leads to no web address" in check_torch(server, status=302, Location=target).problem, target
    assert check_torch(server, status=302, Location="//[").outcome == "failed"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "//[", "data:,x"])
def test_only_web_addresses_are_opened(url):
    with pytest.raises(FetchError, match="no web address"):
        fetch(url)


def test_nothing_is_asked_while_off_or_in_a_private_network(server, month, settings):
    settings.WATCH_PRIVATE_NETWORK = False
    assert check_torch(server, index("2.16.0")).problem == "the address is in a private network"
    settings.WATCH = False
    assert check_due_feeds() == "off"
    assert server.requests == []


def test_without_a_connection_the_site_says_so(server, month, settings, client):
    settings.WATCH = True
    settings.WATCH_PACKAGE_INDEX = "http://127.0.0.1:9"
    for name in ("torch", "vllm"):
        assert check_feed(package_feed(name)).outcome == "offline"
    assert "it has no internet connection" in client.get("/freshness/").content.decode()


def test_an_etag_is_sent_unless_the_table_changed(server, month):
    check_torch(server, index("2.15.0"), ETag='"one"')
    check = check_torch(server, status=304)
    assert server.headers[-1]["if-none-match"] == '"one"'
    assert (check.outcome, check.newest) == ("unchanged", "2.15.0")
    row = Release.objects.filter(component__slug="pytorch").first()
    Release.objects.create(component=row.component, version="2.15.1", source=row.source)
    check_torch(server, index("2.15.0"), ETag='"one"')
    assert "if-none-match" not in server.headers[-1]
    check_torch(server, index("2.15.0"), ETag='"one"')
    assert server.headers[-1]["if-none-match"] == '"one"'


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


def test_a_read_feed_makes_the_table_fresh(server, month):
    before = checked_tables()["releases/pytorch"]
    with time_machine.travel("2027-06-01T12:00:00Z"):
        assert before.is_stale(date(2027, 6, 1))
        server.answer("/simple/torch/", index("2.15.0"))
        check_feed(package_feed("torch"))
        after = checked_tables()["releases/pytorch"]
    assert (after.checked_on, after.against) == (date(2027, 6, 1), "PyTorch in the package index")
    assert not after.is_stale(date(2027, 7, 1))


def test_each_feed_is_due_once_a_day(month, settings):
    settings.WATCH_PACKAGE_INDEX = "http://127.0.0.1:9"
    now = datetime(2026, 11, 24, tzinfo=UTC)
    assert len(due_feeds(now)) == len(feeds())
    FeedCheck.objects.create(feed="package-torch", outcome="read", checked_at=now - timedelta(hours=23))
    assert "package-torch" not in {feed.key for feed in due_feeds(now)}
    assert "package-torch" in {feed.key for feed in due_feeds(now + timedelta(hours=2))}
    settings.WATCH_PACKAGE_INDEX = ""
    assert not any(feed.key.startswith("package-") for feed in due_feeds(now))
    with pytest.raises(CommandError, match="invalid choice: 'torch'"):
        call_command("watch_now", "--feed", "torch")
