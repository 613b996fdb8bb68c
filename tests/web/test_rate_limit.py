"""Requests are counted for each client, by all processes together, and no address is kept."""

import threading

import pytest
from django.test import RequestFactory

from stackviz.web import rate_limit
from stackviz.web.circuit_breaker import Breaker
from stackviz.web.rate_limit import Pace, TooMany, client_of

MINUTE = 6_000_000.0
ONE_BY_ONE = Pace("asked", "DIAGNOSES_PER_MINUTE", 60)
IN_LOTS = Pace("sent", "UPLOADS_PER_MINUTE", 60, "too many uploads with this key", lots=3)


def asked(address="192.0.2.7", **headers):
    return RequestFactory().get("/", REMOTE_ADDR=address, headers=headers)


def let_through(times, request=None):
    through = 0
    for _ in range(times):
        try:
            ONE_BY_ONE.count(request or asked())
        except TooMany:
            continue
        through += 1
    return through


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch, settings, tmp_path):
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, ""
    settings.DIAGNOSES_PER_MINUTE = 5
    settings.UPLOADS_PER_MINUTE = 7
    monkeypatch.setattr(rate_limit, "_breaker", Breaker(rest_s=15))
    monkeypatch.setattr(rate_limit, "_drawn", {})
    monkeypatch.setattr(rate_limit, "clock", lambda: MINUTE)


def test_each_client_has_its_own_share():
    assert let_through(8) == 5
    assert let_through(8, asked("192.0.2.8")) == 5


def sent(times, who="17"):
    through = 0
    for _ in range(times):
        try:
            IN_LOTS.count_for(who)
        except TooMany:
            continue
        through += 1
    return through


def test_who_had_their_share_is_told_of_what_and_how_long_to_wait():
    assert sent(7) == 7
    with pytest.raises(TooMany, match=r"^too many uploads with this key; wait \d+ s$") as many:
        IN_LOTS.count_for("17")
    assert 1 <= many.value.retry_after_s <= 60


def test_what_is_drawn_in_lots_comes_to_the_same_share_for_all_processes(monkeypatch):
    assert sent(1) == 1
    monkeypatch.setattr(rate_limit, "_drawn", {})  # another process; the first has one of its lot of two left
    assert sent(20) == 5
    assert sent(20, "18") == 7


def test_the_next_minute_begins_anew_and_old_counts_go(monkeypatch, settings):
    assert let_through(8) == 5
    for minutes in range(1, 5):
        monkeypatch.setattr(rate_limit, "clock", lambda now=MINUTE + 60 * minutes: now)
        assert let_through(8) == 5
    assert len(list((settings.VAR_DIR / "pace/asked").iterdir())) <= 3


def test_many_at_once_get_no_more_than_the_share():
    through = []
    threads = [threading.Thread(target=lambda: through.append(let_through(4))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(through) <= 5


def test_redis_counts_for_all_processes(settings, redis_url):
    from django.core.cache import cache

    settings.REDIS_URL = redis_url
    settings.CACHES = {"default": {"BACKEND": "stackviz.web.cache.ForgivingRedisCache", "LOCATION": redis_url}}
    cache.clear()
    assert let_through(8) == 5


def test_no_address_is_kept(settings):
    let_through(2)
    assert [path.name for path in settings.VAR_DIR.rglob("*192*")] == []


def test_counts_that_cannot_be_kept_let_everybody_through(settings, tmp_path):
    (tmp_path / "file").write_text("no folder")
    settings.VAR_DIR = tmp_path / "file"
    assert let_through(8) == 8


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        (0, "203.0.113.9", "192.0.2.7"),  # nobody of ours added it
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "1.2.3.4, 203.0.113.9", "203.0.113.9"),  # what the client itself sent stands in front
        (2, "203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "10.0.0.1", "10.0.0.1"),
        (1, "203.0.113.9:1234", "203.0.113.9"),
        (1, "[2001:db8:1:2:3::6]:1234", "2001:db8:1:2::/64"),
        (1, "[2001:db8:1:2:3::6]", "2001:db8:1:2::/64"),
        (1, "", "192.0.2.7"),
        (1, "[", "192.0.2.7"),
        (1, "no address", "192.0.2.7"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_who_asks_is_whom_our_own_proxy_saw(settings, proxies, forwarded, client):
    settings.PROXIES = proxies
    assert client_of(asked(**({"X-Forwarded-For": forwarded} if forwarded else {}))) == client
