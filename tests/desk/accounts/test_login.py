"""Logging in: what is counted, how long it lasts, and where it leads."""

import re
import time

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from stackviz.web.http import rate_limit
from tests.desk.accounts.conftest import PASSWORD, log_in

pytestmark = pytest.mark.django_db


def guess(client, name: str, password: str = "wrong", **headers: str):
    return client.post("/login/", {"username": name, "password": password}, **headers)


def test_guessing_client_waits_whatever_account_it_tries(client, member, settings):
    settings.LOGINS_PER_CLIENT = 5
    answers = [guess(client, f"name-{number}") for number in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 15 * 60
    assert "Too many attempts." in answers[-1].content.decode()
    assert guess(client, "mina", PASSWORD).status_code == 429  # the right one too: otherwise the wait would tell
    assert guess(client, "mina", PASSWORD, REMOTE_ADDR="203.0.113.9").status_code == 302


def test_account_is_slowed_however_its_name_is_spelled(client, member, settings):
    settings.LOGINS_PER_ACCOUNT = 4
    names = ["mina", "MINA", "ｍｉｎａ", "Mina", "mina"]
    answers = [guess(client, name, REMOTE_ADDR=f"203.0.113.{number}") for number, name in enumerate(names)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429]
    assert guess(client, "somebody-else", REMOTE_ADDR="203.0.113.99").status_code == 200


def test_the_wait_ends(client, member, settings, monkeypatch):
    settings.LOGINS_PER_CLIENT = 1
    guess(client, "mina")
    assert guess(client, "mina", PASSWORD).status_code == 429
    monkeypatch.setattr(rate_limit, "clock", lambda: time.time() + 16 * 60)
    assert guess(client, "mina", PASSWORD).status_code == 302


def test_unknown_accounts_answer_like_wrong_passwords(client, member):
    pages = [guess(client, name).content.decode().replace(name, "NAME") for name in ("mina", "nobody")]
    known, unknown = (re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", page) for page in pages)
    assert known == unknown
    assert 'role="alert"' in known


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"]
)
def test_it_leads_to_this_site_only(client, member, address):
    assert log_in(client, "mina", next=address)["Location"] == "/"


def test_the_admin_asks_for_the_password_in_the_same_place(client, member):
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1] == ("/login/?next=%2Fadmin%2F", 302)
    log_in(client, "mina")
    page = client.get("/admin/catalog/", follow=True).content.decode()
    assert "You are logged in as mina, who may not open this page." in page
    assert client.post("/admin/login/", {"username": "mina", "password": PASSWORD}).status_code == 302  # no second form


def test_sessions_begin_anew_and_those_of_staff_end_within_a_day(client, member, settings):
    User.objects.create_user("root", password=PASSWORD, is_staff=True)
    log_in(client, "root")
    staff = client.session.get_expiry_age()
    log_in(client, "mina")
    assert (staff, client.session.get_expiry_age()) == (12 * 3600, 14 * 86_400)
    first = client.session.session_key
    client.post("/logout/")
    assert not Session.objects.filter(session_key=first).exists()
