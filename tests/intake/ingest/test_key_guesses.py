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


def test_wrong_keys_wait_beyond_the_limit(client, db, django_assert_num_queries):
    answers = []
    for number in range(LIMIT + 1):
        with django_assert_num_queries(1):
            answers.append(guess(client, number))
    answers += [guess(client, address=address) for address in ADDRESSES]  # all places count together
    answers.append(upload(client))
    assert [answer.status_code for answer in answers] == [401] * LIMIT + [429] * 4
    assert all(0 < int(answer["Retry-After"]) <= 15 * 60 for answer in answers[LIMIT:])


def test_uploads_and_reads_of_reports_count_too(client, db):
    for address, refused in ((None, 401), (ADDRESSES[1], 404)):
        client_address = "198.51.100.7" if address else "198.51.100.8"
        extra = {"REMOTE_ADDR": client_address}
        answers = [
            guess(client, number, address, **extra) if address else upload(client, number, **extra)
            for number in range(LIMIT + 1)
        ]
        assert [answer.status_code for answer in answers] == [refused] * LIMIT + [429]


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


def test_right_revoked_and_no_keys_are_no_guesses(client, post):
    for _ in range(LIMIT + 2):
        assert client.get(ADDRESSES[0], HTTP_AUTHORIZATION=f"Bearer {post.secret}").status_code == 200
        assert client.get(ADDRESSES[0]).status_code == 401
        assert client.get(ADDRESSES[1]).status_code == 404
    revoke(post.key)
    for _ in range(LIMIT + 2):
        assert client.get(ADDRESSES[0], HTTP_AUTHORIZATION=f"Bearer {post.secret}").status_code == 403
    assert guess(client).status_code == 401


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
