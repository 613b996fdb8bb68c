"""Keys that read: what they open, what they do not, and that no key does both."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs import keys
from stackviz.records.labs.keys import authenticate, create_key, revoke, rotate_key
from stackviz.records.labs.models import AgentKey, Report
from tests.pages.machines.factories import make_lab, make_machine, make_report
from tests.report.format.reports import report_body, sha256

pytestmark = pytest.mark.django_db

LIST, ONE, FEED, KEYS = (
    "/api/v1/machines/",
    "/api/v1/machines/north/dgx-07/",
    "/labs/north/events.atom",
    "/labs/north/keys/",
)


@pytest.fixture
def lab():
    keys._noted.clear()  # of keys of other tests that had the same number
    lab = make_lab("north", is_public=False)
    make_report(make_machine(lab, "dgx-07"))
    make_report(make_machine(make_lab("south", is_public=False), "of-others"))
    make_report(make_machine(make_lab("open"), "of-all"))
    return lab


@pytest.fixture
def reading(lab):
    return bearer(create_key(lab=lab, name="dashboard", scope="read")[1])


@pytest.fixture
def sending(lab):
    return bearer(create_key(lab=lab, name="cron")[1])


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def names(answer):
    return {item["slug"] for item in answer.json()["items"]}


def test_it_reads_its_private_lab_and_what_is_public(client, lab, reading):
    listed = client.get(LIST, headers=reading)
    assert names(listed) == {"dgx-07", "of-all"}
    assert "no-store" in listed["Cache-Control"]
    assert names(client.get(LIST)) == {"of-all"}
    assert client.get(ONE, headers=reading).json()["name"] == "dgx-07"
    assert client.get(ONE).status_code == 404
    assert client.get("/api/v1/machines/south/of-others/", headers=reading).status_code == 404
    feed = client.get(FEED, headers=reading)
    assert (feed.status_code, client.get(FEED).status_code) == (200, 404)
    assert "no-store" in feed["Cache-Control"]
    assert client.get("/labs/south/events.atom", headers=reading).status_code == 404
    report = Report.objects.get(machine__lab=lab)
    assert client.get(f"/api/v1/reports/{report.pk}/", headers=reading).status_code == 200
    assert AgentKey.objects.get(scope="read").last_used_at is not None


@pytest.mark.parametrize(
    "page",
    ["/machines/north/", "/machines/north/dgx-07/", "/labs/north/people/", KEYS, "/labs/north/webhook/", "/labs/north/data/export.zip"],
)  # fmt: skip
def test_it_opens_no_page(client, reading, page):
    assert client.get(page, headers=reading).status_code in (302, 404)


def test_it_sends_nothing(client, lab, reading):
    beat = {"identity": sha256("x"), "every_s": 3600}
    for path, body in (("/api/v1/reports/", report_body()), ("/api/v1/heartbeat/", beat)):
        answer = client.post(path, body, content_type="application/json", headers=reading)
        assert (answer.status_code, "sends no reports" in answer.json()["error"]) == (403, True)
    assert client.get("/api/v1/key/", headers=reading).status_code == 403
    assert Report.objects.filter(machine__lab=lab).count() == 1


def test_a_key_that_sends_ended_or_is_none_reads_nothing(client, lab, sending):
    revoked, old = (create_key(lab=lab, name=name, scope="read") for name in ("revoked", "old"))
    revoke(revoked[0])
    past = timezone.now() - timedelta(days=2)
    AgentKey.objects.filter(pk=old[0].pk).update(created_at=past, expires_at=past + timedelta(days=1))
    for path in (LIST, ONE, FEED):
        answer = client.get(path, headers=sending)
        assert (answer.status_code, "reads nothing" in answer.content.decode()) == (403, True)
        for _key, secret in (revoked, old):
            assert client.get(path, headers=bearer(secret)).status_code == 403
        for text in ("nonsense", "aw_abcdefgh_" + "x" * 43, ""):
            answer = client.get(path, headers=bearer(text))
            assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def test_guesses_are_counted(client, lab, reading, settings, tmp_path):
    settings.VAR_DIR, settings.KEY_GUESSES_PER_CLIENT = tmp_path, 2
    wrong = bearer("aw_abcdefgh_" + "x" * 43)
    assert [client.get(FEED, headers=wrong).status_code for _guess in range(3)] == [401, 401, 429]
    assert client.get(LIST, headers=wrong).status_code == 429
    assert client.get(FEED, headers=reading).status_code == 200


def test_it_costs_one_query_more(client, lab, reading, django_assert_num_queries):
    client.get(FEED, headers=reading)
    with django_assert_num_queries(3):
        client.get(FEED, headers=reading)


def test_it_is_replaced_by_one_that_reads_and_is_of_no_machine(lab):
    key, _secret = create_key(lab=lab, name="dashboard", scope="read")
    made, secret = rotate_key(key, timedelta(0))
    assert made.scope == "read"
    assert authenticate(f"Bearer {secret}", "read").lab_id == lab.pk
    with pytest.raises(ValueError, match="whole lab"):
        create_key(lab=lab, name="x", scope="read", machine=lab.machines.get())
    with pytest.raises(IntegrityError), transaction.atomic():
        AgentKey.objects.filter(pk=made.pk).update(machine=lab.machines.get())


def log_in(client, lab, role):
    user = User.objects.create_user(role)
    lab.memberships.create(user=user, role=role)
    client.force_login(user)


def test_owners_make_them_on_the_page_of_keys(client, lab):
    log_in(client, lab, "owner")
    made = client.post(KEYS, {"name": "dashboard", "scope": f"read:{lab.pk}", "lifetime": "90"})
    text = made.content.decode()
    secret = re.search(r"aw_[a-z0-9]{8}_[\w-]{32,}", text)[0]
    assert authenticate(f"Bearer {secret}", "read").lab_id == lab.pk
    assert "accelweb-agent.pyz" not in text
    assert secret not in client.get(KEYS).content.decode()
    entry = AuditEntry.objects.get(action="key.created")
    assert entry.details["scope"] == "read"


@pytest.mark.parametrize("role", ["viewer", "member", "owner"])
def test_others_make_none(client, lab, role):
    """Nor owners one of another lab."""
    log_in(client, lab, role)
    wanted = make_lab("elsewhere", is_public=False) if role == "owner" else lab
    for page in (KEYS, "/machines/add/"):
        answer = client.post(page, {"name": "dashboard", "scope": f"read:{wanted.pk}", "lifetime": "90"})
        assert answer.status_code in (403, 422)
    assert not AgentKey.objects.exists()
