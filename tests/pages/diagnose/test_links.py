"""A private link: masked before it is kept, found by its token only, ended by its code or its day, saved once."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from stackviz.pages.diagnose.links import delete_expired, new_ticket, save_link
from stackviz.pages.diagnose.models import PrivateLink
from stackviz.pages.diagnose.tasks import delete_expired_links
from stackviz.web.http import rate_limit
from stackviz.web.http.tickets import digest_of
from tests.pages.diagnose.conftest import CPU_WHEEL, HOSTILE, TWO_MACHINES

SECRETS = (
    f"marie@rack-7:~$ python -m torch.utils.collect_env\n{CPU_WHEEL}\nPATH: /home/marie/env/bin marie@lab.example.org\n"
)


@pytest.fixture
def visitor(client, db):
    return client


def ticket_on(page) -> str:
    found = re.search(r'name="ticket" value="([^"]+)"', page.content.decode())
    assert found is not None
    return unescape(found[1])


def save(visitor, text=CPU_WHEEL):
    """Both steps -> the answer of the second."""
    shown = visitor.post("/diagnose/save/", {"text": text})
    assert shown.status_code == 200, shown.content
    return visitor.post("/diagnose/save/", {"text": shown.context["text"], "ticket": ticket_on(shown)})


def test_what_is_kept_is_masked_whatever_the_form_sends(visitor):
    ticket = ticket_on(visitor.post("/diagnose/save/", {"text": CPU_WHEEL}))
    visitor.post("/diagnose/save/", {"text": SECRETS, "ticket": ticket})
    kept = PrivateLink.objects.get()
    assert "marie" not in kept.text
    assert "rack-7" not in kept.text
    assert "2.12.0+cpu" in kept.text


def test_a_private_link_is_known_to_its_reader_alone(visitor):
    answer = save(visitor)
    assert answer.status_code == 303
    page = Client().get(answer["Location"])
    assert page.status_code == 200
    assert "is built without CUDA" in page.content.decode()
    assert page["X-Robots-Tag"] == "noindex, nofollow"
    assert page["Referrer-Policy"] == "same-origin"
    assert "no-store" in page["Cache-Control"]
    assert '<meta name="robots" content="noindex' in page.content.decode()
    token = answer["Location"].rstrip("/").rpartition("/")[2]
    assert len(token) >= 43  # 256 bits
    row = PrivateLink.objects.values().get()
    assert row["token_digest"] == digest_of(token)
    assert token not in str(row)


def test_owner_deletes_by_button_others_by_code(visitor):
    address = save(visitor)["Location"]
    word = visitor.get(address).context["word"]
    assert len(word) >= 22  # 128 bits
    stranger = Client()
    assert word not in stranger.get(address).content.decode()
    wrong = stranger.post(f"{address}delete/", {"word": "x" * 22})
    assert wrong.status_code == 403
    assert PrivateLink.objects.count() == 1
    assert stranger.post(f"{address}delete/", {"word": word}).status_code == 302
    assert PrivateLink.objects.count() == 0
    assert visitor.get(address).status_code == 404
    assert stranger.post(f"{address}delete/", {"word": word}).status_code == 302  # done twice it is done


def test_saving_and_deleting_need_the_token_of_a_form(visitor):
    address = save(visitor)["Location"]
    other_site = Client(enforce_csrf_checks=True)
    assert other_site.post("/diagnose/save/", {"text": CPU_WHEEL}).status_code == 403
    assert other_site.post(f"{address}delete/", {"word": "x"}).status_code == 403


def test_a_form_saves_each_text_once(visitor, settings):
    shown = visitor.post("/diagnose/save/", {"text": CPU_WHEEL})
    form = {"text": shown.context["text"], "ticket": ticket_on(shown)}
    settings.LINKS_KEPT = 1
    first, again = visitor.post("/diagnose/save/", form), visitor.post("/diagnose/save/", form)
    assert first["Location"] == again["Location"]
    assert PrivateLink.objects.count() == 1
    settings.LINKS_KEPT = 2
    other = visitor.post("/diagnose/save/", form | {"text": TWO_MACHINES})
    assert first["Location"] != other["Location"]
    assert PrivateLink.objects.count() == 2


@pytest.mark.parametrize("ticket", ["x", "WyJhIiwiYiJd:x:y", "é"])
def test_only_a_dump_with_a_ticket_of_this_site_is_saved(visitor, ticket):
    shown = visitor.post("/diagnose/save/", {"text": CPU_WHEEL, "ticket": ticket})
    assert shown.status_code == 200
    assert "Nothing was saved" in shown.content.decode()
    assert visitor.post("/diagnose/save/", {"text": "a diary"}).status_code == 422
    assert visitor.get("/diagnose/save/").status_code == 302
    for guessed in ("a" * 43, "a" * 42, "a" * 500, "..%2f.."):
        assert visitor.get(f"/diagnose/{guessed}/").status_code == 404, guessed
    assert PrivateLink.objects.count() == 0


def test_its_day_ends_it_and_the_task_deletes_it(visitor, monkeypatch, settings):
    address = save(visitor)["Location"]
    kept = PrivateLink.objects.get()
    assert kept.expires_at - kept.created_at == timedelta(days=settings.LINK_DAYS)
    now = kept.expires_at
    monkeypatch.setattr(timezone, "now", lambda: now - timedelta(seconds=1))
    assert delete_expired() == 0
    assert visitor.get(address).status_code == 200
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert visitor.get(address).status_code == 404
    assert PrivateLink.objects.count() == 1
    assert "stackviz.pages.diagnose.tasks.delete_expired_links" in {
        entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()
    }
    assert delete_expired_links() == "1 deleted"
    assert delete_expired_links() == "0 deleted"


def test_one_client_saves_so_many_an_hour(visitor, settings, monkeypatch):
    settings.LINKS_PER_HOUR = 2
    monkeypatch.setattr(rate_limit, "clock", lambda: 7_200_000.0)
    answers = [save(visitor) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [303, 303, 429]
    assert "2.12.0+cpu" in answers[-1].context["text"]  # what was to be kept is not lost
    assert PrivateLink.objects.count() == 2


def test_saved_text_has_a_size_limit(visitor):
    long = CPU_WHEEL + "\na line of a log" * 20_000
    assert visitor.post("/diagnose/", {"text": long}).status_code == 200
    ticket = ticket_on(visitor.post("/diagnose/save/", {"text": CPU_WHEEL}))
    for form in ({"text": long}, {"text": long, "ticket": ticket}):
        refused = visitor.post("/diagnose/save/", form)
        assert refused.status_code == 413
        assert "256 KB" in refused.content.decode()
    assert PrivateLink.objects.count() == 0


def test_so_many_are_kept_of_all_and_expired_ones_make_room(visitor, settings):
    settings.LINKS_KEPT = 2
    first, _second = save(visitor), save(visitor)
    full = save(visitor)
    assert full.status_code == 507
    assert "so nothing was saved" in full.content.decode()
    assert visitor.get(first["Location"]).status_code == 200
    PrivateLink.objects.filter(pk=PrivateLink.objects.earliest("pk").pk).update(
        created_at=timezone.now() - timedelta(days=31), expires_at=timezone.now() - timedelta(days=1)
    )
    assert save(visitor).status_code == 303
    assert PrivateLink.objects.count() == 2


def test_the_drawing_is_a_file_that_does_not_tell_the_link(visitor):
    address = save(visitor, TWO_MACHINES)["Location"]
    assert visitor.get(f"{address}?show=differences").context["only_differences"] is True
    assert "?show=differences" in visitor.get(address).content.decode()
    for query in ("?format=svg", "?show=differences&format=svg"):
        file = visitor.get(f"{address}{query}")
        assert file["Content-Type"].startswith("image/svg+xml")
        assert file["X-Robots-Tag"]
        assert "Apple M3 Max" in file.content.decode()
        assert address.strip("/") not in file.content.decode()
    hostile = CPU_WHEEL.replace("NVIDIA H100 80GB HBM3", HOSTILE)
    pasted = visitor.post("/diagnose/", {"text": hostile, "format": "svg"})
    assert pasted["Content-Type"].startswith("image/svg+xml")
    saved = visitor.get(save(visitor, hostile)["Location"])
    assert "&lt;script&gt;alert(1)" in saved.content.decode()
    for page in (pasted, saved):
        assert "<script>alert" not in page.content.decode()
        assert "<img src=x" not in page.content.decode()


def test_admin_sees_links_without_content(visitor):
    save_link(new_ticket(), "what nobody else reads", "collect-env")
    link = PrivateLink.objects.get()
    User.objects.create_superuser("admin", password="x")
    visitor.login(username="admin", password="x")
    for path in ("", f"{link.pk}/change/"):
        page = visitor.get(f"/admin/diagnose/privatelink/{path}")
        assert page.status_code == 200
        assert "collect-env" in page.content.decode()
        assert "what nobody else reads" not in page.content.decode()
        assert link.token_digest not in page.content.decode()
    assert visitor.get("/admin/diagnose/privatelink/add/").status_code == 403
    assert visitor.post(f"/admin/diagnose/privatelink/{link.pk}/delete/", {"post": "yes"}).status_code == 302
    assert PrivateLink.objects.count() == 0
