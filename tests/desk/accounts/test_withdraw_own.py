"""Withdrawing one's own account: with the password, not while a lab needs its owner, and every login ends."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs.models import Lab, Membership
from tests.desk.accounts.conftest import PASSWORD, log_in, set_up

pytestmark = pytest.mark.django_db
PAGE = "/account/withdraw/"


def withdraw(client, password: str = PASSWORD):
    return client.post(PAGE, {"password": password})


def test_the_account_page_leads_there(client, member):
    log_in(client, "mina")
    assert f'href="{PAGE}"' in client.get("/account/").content.decode()
    page = client.get(PAGE)
    assert (page.status_code, "private" in page["Cache-Control"]) == (200, True)
    assert "Withdraw the account" not in client.get(f"/zh-hans{PAGE}").content.decode()


def test_password_withdraws_the_account_and_its_logins(client, member):
    elsewhere, number = Client(), member.pk
    log_in(elsewhere, "mina")
    log_in(client, "mina")
    assert withdraw(client)["Location"] == "/"
    assert "The account was withdrawn." in client.get("/").content.decode()
    assert not User.objects.exists()
    for browser in (client, elsewhere):
        assert browser.get("/account/")["Location"].startswith("/login/")
    entry = AuditEntry.objects.get(action="account.withdrawn")
    assert (entry.by, entry.subject) == (number, f"account {number}")


def test_without_the_password_nothing_goes(client, member):
    for answer in (client.get(PAGE), withdraw(client)):
        assert answer["Location"] == f"/login/?next={PAGE}"
    log_in(client, "mina")
    for password in ("", "wrong", PASSWORD.upper(), "a\x00b"):
        page = withdraw(client, password)
        assert (page.status_code, bool(page.context["problem"])) == (422, True)
    other = Client(enforce_csrf_checks=True)
    other.force_login(member)
    assert withdraw(other).status_code == 403
    assert User.objects.filter(pk=member.pk).exists()


def test_guesses_are_counted_as_logins(client, member, settings):
    log_in(client, "mina")
    settings.LOGINS_PER_ACCOUNT = 3
    assert [withdraw(client, "wrong").status_code for _guess in range(3)] == [422, 422, 429]
    assert withdraw(client).status_code == 429
    assert User.objects.filter(pk=member.pk).exists()


def test_the_only_owner_of_a_lab_hands_it_over_first(client, member):
    lab = Lab.objects.create(slug="north", name="North <b>lab</b>", is_public=False)
    Membership.objects.create(lab=lab, user=member, role="owner")
    log_in(client, "mina")
    for page in (client.get(PAGE), withdraw(client)):
        assert len(page.context["needed"]) == 1
        assert "North &lt;b&gt;lab&lt;/b&gt;" in page.content.decode()
    assert page.status_code == 422
    Membership.objects.create(lab=lab, user=User.objects.create_user("ada"), role="owner")
    assert withdraw(client).status_code == 302
    assert [membership.user.username for membership in lab.memberships.all()] == ["ada"]


def test_the_only_superuser_stays(client):
    User.objects.create_superuser("root", password=PASSWORD)
    log_in(client, "root")
    assert "no other superuser" in withdraw(client).content.decode()


def test_a_second_factor_is_shown_first(client, member):
    set_up(client, "mina")
    other = Client()
    log_in(other, "mina")
    assert "second-factor" in withdraw(other)["Location"]
    assert User.objects.exists()
    assert withdraw(client)["Location"] == "/"
    assert not User.objects.exists()
