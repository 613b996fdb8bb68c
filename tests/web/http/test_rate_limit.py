"""Requests are counted for each client, behind proxies too, by all processes together, and no address is stored."""

import threading

import pytest
from django.test import RequestFactory

from stackviz.web.http import rate_limit
from stackviz.web.http.circuit_breaker import Breaker
from stackviz.web.http.rate_limit import RateLimit, RateLimited, client_address, client_key

MINUTE = 6_000_000.0
SINGLE = RateLimit("single", "DIAGNOSES_PER_MINUTE", 60)
IN_BATCHES = RateLimit("batched", "UPLOADS_PER_MINUTE", 60, "too many uploads with this key", batches=3)


def request_from(address="192.0.2.7", **headers):
    return RequestFactory().get("/", REMOTE_ADDR=address, headers=headers)


def passed(times, count, *given):
    """How many of so many requests were let through."""
    through = 0
    for _ in range(times):
        try:
            count(*given)
        except RateLimited:
            continue
        through += 1
    return through


def pass_single(times, request=None):
    return passed(times, SINGLE.count, request or request_from())


def pass_batched(times, key="17"):
    return passed(times, IN_BATCHES.count_for, key)


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch, settings, tmp_path):
    settings.VAR_DIR, settings.REDIS_URL = tmp_path, ""
    settings.DIAGNOSES_PER_MINUTE = 5
    settings.UPLOADS_PER_MINUTE = 7
    monkeypatch.setattr(rate_limit, "_breaker", Breaker(rest_s=15))
    monkeypatch.setattr(rate_limit, "_batches", {})
    monkeypatch.setattr(rate_limit, "clock", lambda: MINUTE)


def test_a_refusal_says_what_is_limited_and_how_long_to_wait():
    assert pass_batched(7) == 7
    with pytest.raises(RateLimited, match=r"^too many uploads with this key; wait \d+ s$") as limited:
        IN_BATCHES.count_for("17")
    assert 1 <= limited.value.retry_after_s <= 60


def test_batches_of_all_processes_together_come_to_the_limit(monkeypatch):
    assert pass_batched(1) == 1
    monkeypatch.setattr(rate_limit, "_batches", {})  # another process; the first has one of its batch of two left
    assert pass_batched(20) == 5
    assert pass_batched(20, "18") == 7


def test_the_next_minute_begins_anew_and_old_counts_go(monkeypatch, settings):
    assert pass_single(8) == 5
    assert pass_single(8, request_from("192.0.2.8")) == 5  # each client has its share
    for minutes in range(1, 5):
        monkeypatch.setattr(rate_limit, "clock", lambda now=MINUTE + 60 * minutes: now)
        assert pass_single(8) == 5
    assert len(list((settings.VAR_DIR / "pace/single").iterdir())) <= 3


def test_many_at_once_get_no_more_than_the_share():
    through = []
    threads = [threading.Thread(target=lambda: through.append(pass_single(4))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(through) <= 5


def test_redis_counts_for_all_processes(settings, redis_url):
    from django.core.cache import cache

    settings.REDIS_URL = redis_url
    settings.CACHES = {"default": {"BACKEND": "stackviz.web.http.cache.ForgivingRedisCache", "LOCATION": redis_url}}
    cache.clear()
    assert pass_single(8) == 5


def test_counts_that_cannot_be_kept_let_everybody_through(settings, tmp_path):
    (tmp_path / "file").write_text("no folder")
    settings.VAR_DIR = tmp_path / "file"
    assert pass_single(8) == 8


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
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert client_address(request_from(**headers)) == client


def test_rate_key_identifies_client_and_hides_address():
    keys = [
        client_key(RequestFactory().get("/", REMOTE_ADDR=address))
        for address in ("192.0.2.7", "192.0.2.7", "192.0.2.8")
    ]
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) == 32
    assert "192.0.2.7" not in keys[0]
