"""Requests are counted for each client, by all processes together, and no address is kept."""

import threading

import pytest
from django.test import RequestFactory

from stackviz.diagnose import pace
from stackviz.diagnose.pace import DIAGNOSES, TooMany, client_of

MINUTE = 6_000_000.0


def asked(address="192.0.2.7", **headers):
    return RequestFactory().get("/", REMOTE_ADDR=address, headers=headers)


def let_through(times, request=None):
    through = 0
    for _ in range(times):
        try:
            DIAGNOSES.count(request or asked())
        except TooMany:
            continue
        through += 1
    return through


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch, settings):
    settings.DIAGNOSES_PER_MINUTE = 5
    monkeypatch.setattr(pace, "clock", lambda: MINUTE)


def test_each_client_has_its_own_share():
    assert let_through(8) == 5
    assert let_through(8, asked("192.0.2.8")) == 5


def test_the_next_minute_begins_anew_and_old_counts_go(monkeypatch, settings):
    assert let_through(8) == 5
    for minutes in range(1, 5):
        monkeypatch.setattr(pace, "clock", lambda now=MINUTE + 60 * minutes: now)
        assert let_through(8) == 5
    assert len(list((settings.VAR_DIR / "pace/diagnoses").iterdir())) <= 3


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
        (1, "", "192.0.2.7"),
        (1, "no address", "192.0.2.7"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_who_asks_is_whom_our_own_proxy_saw(settings, proxies, forwarded, client):
    settings.PROXIES = proxies
    assert client_of(asked(**({"X-Forwarded-For": forwarded} if forwarded else {}))) == client
