"""Mails about events: who gets them, how often, what is in them, and how they end."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail as outbox_module
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone

from stackviz.intake.notices.mails import LISTED, ask_for_mails, mail_of_token, send_mails, unsubscribe_token
from stackviz.intake.notices.models import EventMail
from tests.intake.notices.test_feed import note
from tests.pages.machines.factories import make_lab

pytestmark = pytest.mark.django_db
PEOPLE = "/labs/north/people/"


@pytest.fixture(autouse=True)
def _mail_server(settings):
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example.org", "https://site.example"


@pytest.fixture
def lab():
    return make_lab("north", is_public=False)


def join(lab, name, role="viewer", email="x@example.org"):
    user = User.objects.create_user(name, email=email)
    return lab.memberships.create(user=user, role=role)


def an_hour_later():
    """As if everybody had asked, or got the last mail, an hour ago, and what happened since were settled."""
    for mail in EventMail.objects.all():
        EventMail.objects.filter(pk=mail.pk).update(noted_until=mail.noted_until - timedelta(minutes=61))


def settled(lab, count=1, **fields):
    events = note(lab, count, **fields)
    lab.events.update(noted_at=timezone.now() - timedelta(minutes=10))
    return events


def due_mail(lab, language="en", count=1, **fields):
    """Ada has asked for mails, something happened, and an hour went by. -> her membership."""
    membership = join(lab, "ada")
    ask_for_mails(membership, language)
    settled(lab, count, **fields)
    an_hour_later()
    return membership


def sent():
    send_mails()
    mails, outbox_module.outbox[:] = list(outbox_module.outbox), []
    return mails


def test_who_asks_gets_one_mail_with_all_that_happened(lab):
    ask_for_mails(join(lab, "ada", email="ada@example.org"), "en")
    join(lab, "silent", email="silent@example.org")
    settled(lab, 2)
    an_hour_later()
    (message,) = sent()
    assert (message.to, message.subject) == (["ada@example.org"], "North lab: 2 events")
    assert message.body.count("dgx-07: Torch sees no card") == 2
    assert "https://site.example/machines/north/dgx-07/" in message.body
    assert "https://site.example/labs/mails/" in message.body
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    an_hour_later()
    EventMail.objects.update(noted_until=timezone.now() - timedelta(minutes=6))
    assert sent() == []


def test_not_twice_in_an_hour_and_not_what_is_not_settled(lab):
    ask_for_mails(join(lab, "ada"), "en")
    note(lab)
    assert sent() == []  # just asked
    an_hour_later()
    assert sent() == []  # its transaction may be the first of several
    assert EventMail.objects.get().noted_until < timezone.now() - timedelta(minutes=5)


def test_a_bad_night_is_one_mail_of_bounded_size(lab):
    due_mail(lab, count=LISTED + 3)
    (message,) = sent()
    assert message.body.count("Torch sees no card") == LISTED
    assert "and 3 more" in message.body


def test_it_is_in_the_language_of_who_asked(lab):
    due_mail(lab, "zh-hans")
    (message,) = sent()
    assert "新诊断" in message.body
    assert "/zh-hans/machines/north/dgx-07/" in message.body


def test_a_name_with_a_line_end_adds_no_header(lab):
    type(lab).objects.update(name="North\r\nBcc: eve@example.org")
    lab.refresh_from_db()
    due_mail(lab, title="<b>&\r\nBcc: x")
    (message,) = sent()
    assert "\n" not in message.subject
    assert message.recipients() == ["x@example.org"]


def test_who_left_is_inactive_or_has_no_address_gets_none(lab):
    left, inactive, without = (join(lab, name) for name in ("left", "inactive", "without"))
    for membership in (left, inactive, without):
        ask_for_mails(membership, "en")
    left.delete()
    User.objects.filter(username="inactive").update(is_active=False)
    User.objects.filter(username="without").update(email="")
    settled(lab)
    an_hour_later()
    assert sent() == []


def test_a_mail_that_could_not_be_sent_is_sent_in_the_next_run(lab, monkeypatch, settings, caplog):
    due_mail(lab)
    with monkeypatch.context() as broken:
        broken.setattr(EmailBackend, "send_messages", lambda *_arguments: (_ for _ in ()).throw(OSError("no server")))
        assert send_mails() == 0
    for name, value in (("EMAIL_HOST", "mail.example.org"), ("SITE_URL", "https://site.example")):
        setattr(settings, name, "")
        assert sent() == []
        setattr(settings, name, value)
    assert "SITE_URL" in caplog.text
    assert len(sent()) == 1


# --- asking, and ending ---


@pytest.mark.parametrize("role", ["viewer", "member", "owner"])
def test_people_ask_for_themselves_and_end_it(client, lab, role):
    client.force_login(join(lab, "ada", role).user)
    assert "Mail me what happens" in client.get(PEOPLE).content.decode()
    assert client.post(PEOPLE, {"do": "mails", "user": "1"}).status_code == 302
    assert EventMail.objects.get().membership.user.username == "ada"
    assert "You get mails" in client.get(PEOPLE).content.decode()
    assert client.post(PEOPLE, {"do": "no-mails"}).status_code == 302
    assert not EventMail.objects.exists()


def test_the_host_of_the_page_is_in_no_mail(client, lab, settings):
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
    client.force_login(join(lab, "ada").user)
    assert client.post(PEOPLE, {"do": "mails"}, headers={"host": "127.0.0.1:8081"}).status_code == 302
    settled(lab)
    an_hour_later()
    (message,) = sent()
    assert "127.0.0.1" not in f"{message.message()}"
    assert "https://site.example/labs/mails/" in message.body
    settings.SITE_URL = ""
    EventMail.objects.all().delete()
    assert "Mail me what happens" not in client.get(PEOPLE).content.decode()


def test_without_an_address_and_of_others_it_is_refused(client, lab):
    eve = User.objects.create_user("eve", email="eve@example.org")
    root = User.objects.create_superuser("root", email="root@example.org")
    for user, status in ((join(lab, "ada", email="").user, 422), (eve, 404), (root, 404)):
        client.force_login(user)
        assert client.post(PEOPLE, {"do": "mails"}).status_code == status
    assert not EventMail.objects.exists()


def test_the_link_in_a_mail_ends_it_by_post_without_a_login(lab):
    due_mail(lab)
    (message,) = sent()
    link = re.search(r"https://site.example(/labs/mails/\S+)", message.body)[1]
    client = Client(enforce_csrf_checks=True)
    for token in ("x", "WzEsMV0:1abc:xxxx", "a:b:c", "%00", "x" * 2000):  # none of ours
        for answer in (client.get(f"/labs/mails/{token}/"), client.post(f"/labs/mails/{token}/")):
            assert (answer.status_code, "North" in answer.content.decode()) == (200, False)
    assert "North lab" in client.get(link).content.decode()
    assert EventMail.objects.exists()
    done = client.post(link, {"List-Unsubscribe": "One-Click"})
    assert (done.status_code, EventMail.objects.exists()) == (200, False)
    assert client.get(link).status_code == 200


def test_an_old_link_does_not_end_what_was_asked_for_later(lab):
    membership = join(lab, "ada")
    ask_for_mails(membership, "en")
    token = unsubscribe_token(EventMail.objects.get())
    assert mail_of_token(token) == EventMail.objects.get()
    other = join(lab, "ben")
    EventMail.objects.all().delete()
    ask_for_mails(other, "en")
    assert mail_of_token(token) is None
