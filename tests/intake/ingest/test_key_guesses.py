"""Guesses of keys: counted per client, wherever a key is asked for, and never to the harm of whoever has one."""

import time

import pytest

from stackviz.records.labs.keys import revoke
from stackviz.records.labs.models import Lab, Report
from stackviz.web.http import rate_limit
from tests.report.format.reports import report_body

LIMIT = 3
ADDRESSES = ("/api/v1/key/", "/api/v1/reports/00000000-0000-4000-8000-000000000000/")


@pytest.fixture(autouse=True)
def _few(settings):
    settings.KEY_GUESSES_PER_CLIENT = LIMIT


def wrong_key(number: int) -> str:
    return f"Bearer aw_abcdefgh_{number:043d}"


def guess(client, number=0, address=ADDRESSES[0], **extra):
    return client.get(address, HTTP_AUTHORIZATION=wrong_key(number), **extra)


def upload(client, number=0, **extra):
    return client.post(
        "/api/v1/reports/", b"{}", content_type="application/json", HTTP_AUTHORIZATION=wrong_key(number), **extra
    )


def test_uploads_with_wrong_keys_wait_beyond_the_limit(client, db):
    answers = [upload(client, number) for number in range(LIMIT + 1)]
    assert [answer.status_code for answer in answers] == [401] * LIMIT + [429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 15 * 60
    assert (
        answers[-1].json()["error"].startswith("too many wrong keys from this address; a right one is accepted; wait")
    )


@pytest.mark.parametrize(("address", "refused"), [(ADDRESSES[0], 401), (ADDRESSES[1], 404)])
def test_reading_with_wrong_keys_waits_too(client, db, address, refused):
    statuses = [guess(client, number, address).status_code for number in range(LIMIT + 1)]
    assert statuses == [refused] * LIMIT + [429]


def test_all_places_count_together(client, db):
    upload(client)
    for address in ADDRESSES:
        guess(client, 1, address)
    assert (upload(client).status_code, guess(client).status_code) == (429, 429)


def test_a_right_key_of_the_same_address_is_never_locked_out(client, post):
    dark = Lab.objects.create(slug="dark", name="Dark lab", is_public=False)
    for number in range(LIMIT + 5):
        upload(client, number)
    body = report_body()
    assert post(body).status_code == 202
    assert client.get(ADDRESSES[0], HTTP_AUTHORIZATION=f"Bearer {post.secret}").status_code == 200
    report = Report.objects.get()
    report.machine.lab = dark
    report.machine.save()
    type(post.key).objects.update(lab=dark)
    assert client.get(f"/api/v1/reports/{body['id']}/", HTTP_AUTHORIZATION=f"Bearer {post.secret}").status_code == 200


def test_right_keys_and_requests_without_one_are_no_guesses(client, post):
    for _ in range(LIMIT + 2):
        assert client.get(ADDRESSES[0], HTTP_AUTHORIZATION=f"Bearer {post.secret}").status_code == 200
        assert client.get(ADDRESSES[0]).status_code == 401
        assert client.get(ADDRESSES[1]).status_code == 404
    assert guess(client).status_code == 401


def test_a_revoked_key_is_no_guess(client, post):
    revoke(post.key)
    statuses = {
        client.get(ADDRESSES[0], HTTP_AUTHORIZATION=f"Bearer {post.secret}").status_code for _ in range(LIMIT + 2)
    }
    assert statuses == {403}


def test_the_wait_ends(client, db, monkeypatch):
    for number in range(LIMIT + 1):
        guess(client, number)
    monkeypatch.setattr(rate_limit, "clock", lambda: time.time() + 16 * 60)
    assert guess(client).status_code == 401


def test_addresses_of_one_ipv6_network_are_one_client(client, db):
    statuses = [guess(client, number, REMOTE_ADDR=f"2001:db8:1:2::{number}").status_code for number in range(LIMIT + 1)]
    assert statuses == [401] * LIMIT + [429]
    assert guess(client, REMOTE_ADDR="2001:db8:1:3::1").status_code == 401


@pytest.mark.parametrize("proxies", [0, 1])
def test_forged_addresses_do_not_help(client, db, settings, proxies):
    """With a front of our own the last address is the one it saw; without one none in the header counts."""
    settings.PROXIES = proxies
    answers = [
        guess(client, number, HTTP_X_FORWARDED_FOR=f"198.51.100.{number}, 203.0.113.9") for number in range(LIMIT + 1)
    ]
    assert [answer.status_code for answer in answers] == [401] * LIMIT + [429]


def test_a_wrong_key_still_costs_one_query(client, db, django_assert_num_queries):
    for number in range(LIMIT + 1):
        with django_assert_num_queries(1):
            guess(client, number)
