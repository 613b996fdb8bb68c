"""Checking a key: what its holder learns, what others do, and what it costs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from stackviz.records.labs.keys import authenticate, revoke
from stackviz.records.labs.models import AgentKey, Machine
from tests.report.format.reports import sha256

ADDRESS = "/api/v1/key/"


def check(client, sender=None, **headers):
    if sender is not None:
        headers["Authorization"] = f"Bearer {sender.secret}"
    return client.get(ADDRESS, headers=headers)


def test_a_key_says_its_lab_or_machine(client, post, sender_with, lab):
    response = check(client, post)
    assert response.status_code == 200
    lab_key = {"name": "test", "lab": {"slug": "north", "name": "North lab"}, "machine": None, "expires_at": None}
    assert response.json() == {**lab_key, "report_format": 1}
    assert response["Cache-Control"] == "private, no-store"
    assert post.secret not in response.content.decode()
    machine = Machine.objects.create(lab=lab, slug="m", name="Rack 7", identity=sha256("mine"))
    until = timezone.now() + timedelta(days=3)
    answer = check(client, sender_with(lab=lab, machine=machine, expires_at=until)).json()
    assert answer["machine"] == {"slug": "m", "name": "Rack 7"}
    assert answer["expires_at"].startswith(f"{until:%Y-%m-%dT%H:%M}")


def test_it_costs_two_queries_and_writes_nothing(client, post, django_assert_num_queries):
    check(client, post)
    with django_assert_num_queries(2):
        check(client, post)
    post.key.refresh_from_db()
    assert post.key.last_used_at is None


@pytest.mark.parametrize("header", ["", "Bearer nonsense", "Bearer aw_abcdefgh_" + "x" * 43])
def test_without_a_key_of_this_site_it_is_401(client, db, header):
    response = check(client, Authorization=header)
    assert (response.status_code, response.json()["field"]) == (401, "Authorization")
    assert "north" not in response.content.decode()


def test_a_key_that_is_deleted_meanwhile_is_401(client, post, monkeypatch):
    def authenticate_and_lose(header):
        sender = authenticate(header)
        AgentKey.objects.all().delete()
        return sender

    monkeypatch.setattr("stackviz.intake.ingest.key_api.authenticate", authenticate_and_lose)
    response = check(client, post)
    assert (response.status_code, response.json()["error"]) == (401, "this key is unknown to this site")


def test_a_revoked_or_expired_key_is_403(client, sender_with, lab):
    revoked = sender_with(lab=lab)
    revoke(revoked.key)
    expired = sender_with(lab=lab)
    AgentKey.objects.filter(pk=expired.key.pk).update(
        created_at=timezone.now() - timedelta(days=2), expires_at=timezone.now() - timedelta(days=1)
    )
    assert [check(client, sender).status_code for sender in (revoked, expired)] == [403, 403]


def test_checks_are_counted_for_each_key(client, sender_with, lab, settings):
    settings.UPLOADS_PER_MINUTE = 2
    first, second = sender_with(lab=lab), sender_with(lab=lab)
    assert [check(client, first).status_code for _ in range(3)] == [200, 200, 429]
    assert check(client, second).status_code == 200


def test_a_check_is_in_the_document_of_the_api(client, db):
    operation = client.get("/api/v1/openapi.json").json()["paths"][ADDRESS]["get"]
    assert set(operation["responses"]) == {"200", "401", "403", "429", "503"}
    assert operation["security"] == [{"AgentKeyAuth": []}]
    assert operation["summary"] == "Check a key"
