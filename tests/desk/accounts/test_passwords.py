"""A forgotten password: the mail, the link, and that nothing tells who has an account."""

import re

import pytest
from django.core import mail

from accelweb.logs import without_links
from stackviz.desk.accounts import login
from tests.desk.accounts.conftest import log_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def mails(settings, monkeypatch):
    """Mails are sent, and at once."""
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example.org", "https://stacks.example.org:8443"
    monkeypatch.setattr(login.mail_reset_link, "delay", login.mail_reset_link)


def ask(client, address: str, path: str = "/password/"):
    return client.post(path, {"email": address})


def link_in(message) -> str:
    return re.search(r"https://stacks\.example\.org:8443(/\S+)", message.body)[1]


def test_a_link_is_mailed_that_sets_a_new_password_once(client, member):
    assert ask(client, "Mina@example.org")["Location"] == "/password/sent/"
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["mina@example.org"], "New password for stacks.example.org:8443")
    form = client.get(link_in(message), follow=True)
    assert link_in(message).split("/")[-2] not in form.request["PATH_INFO"]  # no page knows the word of the link
    new = {"new_password1": "a staple of batteries", "new_password2": "a staple of batteries"}
    done = client.post(form.request["PATH_INFO"], new, follow=True)
    assert done.redirect_chain[-1][0] == "/password/done/"
    assert client.get(link_in(message), follow=True).context["validlink"] is False
    assert client.post("/login/", {"username": "mina", "password": "a staple of batteries"}).status_code == 302


def test_an_unknown_address_gets_the_same_answer_and_no_mail(client, member):
    known, unknown = (
        ask(client, "mina@example.org", "/zh-hans/password/"),
        ask(client, "nobody@example.org", "/zh-hans/password/"),
    )
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    (message,) = mail.outbox
    assert "/zh-hans/password/" in message.body
    for address in ("", "mina", "mina@example.org\nBcc: all@example.org", "a" * 300 + "@example.org"):
        assert ask(client, address).status_code == 200
    assert len(mail.outbox) == 1


def test_guesses_of_the_old_password_count_as_logins(client, member, settings):
    settings.LOGINS_PER_ACCOUNT = 3
    log_in(client, "mina")
    new = {"new_password1": "a staple of batteries", "new_password2": "a staple of batteries"}
    answers = [client.post("/account/password/", {"old_password": "a guess", **new}) for _time in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "old_password" in answers[0].context["form"].errors
    assert int(answers[-1]["Retry-After"]) <= 15 * 60
    assert client.post("/login/", {"username": "mina", "password": "whatever"}).status_code == 429


def test_admin_has_no_password_form_of_its_own(client, approver):
    client.force_login(approver)
    for answer in (
        client.get("/admin/password_change/"),
        client.post("/admin/password_change/", {"old_password": "x"}),
    ):
        assert (answer.status_code, answer["Location"]) == (302, "/account/password/")


def test_nobody_is_flooded_with_mails(client, member, settings):
    settings.RESET_MAILS_PER_HOUR = 2
    answers = [ask(client, spelling) for spelling in ("mina@example.org", "MINA@example.org", "mina@example.org")]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert len(mail.outbox) == 2


def test_a_broker_that_is_away_is_said(client, member, monkeypatch):
    def is_away(*_arguments):
        raise ConnectionRefusedError

    monkeypatch.setattr(login.mail_reset_link, "delay", is_away)
    answer = ask(client, "mina@example.org")
    assert (answer.status_code, len(answer.context["form"].non_field_errors())) == (503, 1)


def test_a_site_without_mail_says_who_helps(client, settings):
    settings.EMAIL_HOST = ""
    assert "Ask its administrator" in client.get("/password/").content.decode()
    assert "Ask its administrator" in ask(client, "mina@example.org").content.decode()
    assert mail.outbox == []


@pytest.mark.parametrize("host", ["testserver", "testserver:8081", "127.0.0.1:8081", "[::1]:22", "TESTSERVER.:1"])
@pytest.mark.parametrize("header", ["HTTP_HOST", "HTTP_X_FORWARDED_HOST"])
def test_no_link_is_made_of_what_a_request_says_about_its_host(client, member, settings, host, header):
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1", "[::1]"]
    form = {"email": "mina@example.org"}
    assert client.post("/password/", form, headers={"host": "evil.example"}).status_code == 400
    assert client.post("/password/", form, **{header: host, "HTTP_X_FORWARDED_PORT": "8081"}).status_code == 302
    (message,) = mail.outbox
    links = re.findall(r"\w+://[^/\s]+", f"{message.subject} {message.body}")
    assert links == ["https://stacks.example.org:8443"]
    assert host not in f"{message.message()}"


def test_without_the_sites_address_no_mail_is_sent(client, member, settings, caplog):
    settings.SITE_URL = ""
    assert "Ask its administrator" in ask(client, "mina@example.org").content.decode()
    assert login.mail_reset_link("mina@example.org", "en") == "no mail"  # by a worker with other settings
    assert mail.outbox == []
    assert "EMAIL_HOST is set, but SITE_URL, the address for links in mails, is not" in caplog.text


def test_no_log_opens_a_link():
    line = "GET /zh-hans/password/MQ/d1zhx4-61ee0b4f3f5b7f5b2f0f3a1c9b6c4a11/ HTTP/1.1"
    assert without_links(line) == "GET /zh-hans/password/MQ/…/ HTTP/1.1"
