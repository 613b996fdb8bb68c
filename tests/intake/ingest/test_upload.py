"""Sending a report: what is stored, what is answered, and what happens when it is sent again."""

import gzip
import json
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stackviz.intake.ingest import tasks
from stackviz.records.labs.keys import revoke
from stackviz.records.labs.models import Lab, Machine, Report
from tests.report.format.reports import apple_report_body, report_body, sha256


def test_a_report_is_stored_as_sent_and_queued_once(post, queued, django_capture_on_commit_callbacks):
    body = report_body()
    with django_capture_on_commit_callbacks(execute=True):
        answers = [post(body) for _ in range(3)]
    report = Report.objects.get()
    assert [answer.status_code for answer in answers] == [202, 200, 200]
    assert json.loads(bytes(report.body)) == body
    assert (str(report.pk), report.status, report.key) == (body["id"], "received", post.key)
    assert queued == [body["id"]]
    assert answers[0].json() == answers[1].json() == {
        "id": body["id"],
        "status_url": f"http://testserver/api/v1/reports/{body['id']}/",
        "receipt_url": f"http://testserver/receipts/{body['id']}/",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "status"), [({}, 200), ({"facts": {}}, 409), ({"note": 1.0}, 409), ({"note": True}, 409)]
)
def test_retry_is_answered_without_an_insert(post, changed, status):
    """PostgreSQL writes a statement that fails into its log, with the whole body."""
    body = report_body(note=1)
    assert post(body).status_code == 202
    with CaptureQueriesContext(connection) as queries:
        response = post(body | changed)
    assert (response.status_code, response.json().get("field")) == (status, "id" if status == 409 else None)
    assert any("SELECT" in query["sql"] for query in queries)
    assert not any("INSERT" in query["sql"] for query in queries)
    assert json.loads(bytes(Report.objects.get().body)) == body


def test_a_packed_report_is_kept_packed_and_known_in_any_order(post):
    body = report_body()
    packed = gzip.compress(json.dumps(body).encode())
    assert post(packed, HTTP_CONTENT_ENCODING="gzip").status_code == 202
    report = Report.objects.get()
    assert (bytes(report.body), report.encoding) == (packed, "gzip")
    again = json.dumps(dict(reversed(body.items())), indent=1).encode()
    assert post(again).status_code == 200
    assert post(gzip.compress(again), HTTP_CONTENT_ENCODING="gzip").status_code == 200


def test_id_of_another_lab_or_machine_is_a_conflict(post, sender_with):
    other = sender_with(lab=Lab.objects.create(slug="south", name="South lab", is_public=True))
    body = report_body()
    assert post(body).status_code == 202
    assert other(body).status_code == 409
    assert post(body | {"machine": {"identity": sha256("another"), "name": None}}).status_code == 409
    assert Machine.objects.count() == 1


def test_usual_upload_is_five_statements(post, django_assert_num_queries):
    """Begin, the key with the machine, whether it is here, the report, end."""
    assert post(report_body()).status_code == 202  # makes the machine known, and the key recognised
    with django_assert_num_queries(5):
        assert post(report_body()).status_code == 202


def test_the_use_of_a_key_is_noted_once_a_minute(post):
    post(report_body())
    post.key.refresh_from_db()
    first = post.key.last_used_at
    post(report_body())
    post.key.refresh_from_db()
    assert first is not None
    assert post.key.last_used_at == first


# --- whose machine ---


def test_a_labs_key_announces_machines_by_their_first_report(post, lab):
    for identity, name in (
        ("one", "Rack 7, slot b"),
        ("two", None),
        ("one", "Rack 7, slot b"),
        ("3", "Rack 7, slot b"),
    ):
        post(report_body(machine={"identity": sha256(identity), "name": name}))
    names = list(Machine.objects.order_by("pk").values_list("slug", "name", "lab__slug"))
    short, third = sha256("two")[:8], sha256("3")[:8]
    assert names == [
        ("rack-7-slot-b", "Rack 7, slot b", "north"),
        (f"machine-{short}", f"machine {short}", "north"),
        (f"rack-7-slot-b-{third}", "Rack 7, slot b", "north"),
    ]


@pytest.mark.parametrize("name", ["...", "北京", "../../etc", "<script>", "a" * 200])
def test_any_name_makes_an_address(post, name):
    assert post(report_body(machine={"identity": sha256("one"), "name": name})).status_code == 202
    machine = Machine.objects.get()
    assert machine.name == name
    assert machine.slug == "".join(sign for sign in machine.slug if sign.isalnum() or sign == "-")


def test_a_machines_key_serves_that_machine_only(sender_with, lab):
    machine = Machine.objects.create(lab=lab, slug="m", name="m", identity=sha256("mine"))
    post = sender_with(lab=lab, machine=machine)
    assert post(report_body(machine={"identity": sha256("mine"), "name": None})).status_code == 202
    response = post(report_body(machine={"identity": sha256("other"), "name": None}))
    assert (response.status_code, response.json()["field"]) == (403, "machine.identity")
    assert (Report.objects.count(), Machine.objects.count()) == (1, 1)


def test_an_announced_machine_is_the_one_that_reports_first(post, sender_with, lab):
    machine = Machine.objects.create(lab=lab, slug="m", name="m")
    send = sender_with(lab=lab, machine=machine)
    taken = report_body(machine={"identity": sha256("known"), "name": "known"})
    post(taken)
    for body, status, identity in (
        (report_body(machine={"identity": sha256("known"), "name": None}), 403, None),  # another's
        (taken | {"machine": {"identity": sha256("new"), "name": None}}, 409, None),  # refused: it is nobody's yet
        (report_body(machine={"identity": sha256("first"), "name": None}), 202, sha256("first")),
        (report_body(machine={"identity": sha256("second"), "name": None}), 403, sha256("first")),
    ):
        assert send(body).status_code == status
        machine.refresh_from_db()
        assert machine.identity == identity


# --- keys ---


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic aw_abcdefgh_" + "x" * 43, "Bearer nonsense", "Bearer aw_abcdefgh_" + "x" * 43],
)
def test_without_a_key_of_ours_the_answer_is_401(post, header):
    response = post(report_body(), HTTP_AUTHORIZATION=header)
    assert (response.status_code, response.json()["field"]) == (401, "Authorization")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert Report.objects.count() == 0


def test_wrong_secret_is_401_with_same_text(post):
    wrong = post.secret[:-1] + ("A" if post.secret[-1] != "A" else "B")
    responses = [
        post(report_body(), HTTP_AUTHORIZATION=f"Bearer {text}") for text in (wrong, "aw_abcdefgh_" + "x" * 43)
    ]
    assert responses[0].status_code == 401
    assert responses[0].json() == responses[1].json()
    assert post(report_body(), HTTP_AUTHORIZATION=f"bearer {post.secret}").status_code == 202


@pytest.mark.parametrize(("end", "status"), [("revoked", 403), ("expired", 403), ("deleted", 401)])
def test_a_key_that_ended_is_refused_from_the_next_upload_on(post, end, status):
    """Also where a report is sent again."""
    body = report_body()
    assert post(body).status_code == 202
    if end == "revoked":
        revoke(post.key)
    elif end == "deleted":
        post.key.delete()
    else:
        post.key.created_at, post.key.expires_at = (timezone.now() - timedelta(days=days) for days in (9, 1))
        post.key.save()
        assert f"{post.key.expires_at:%Y-%m-%d}" in post(body).json()["error"]
    assert [post(document).status_code for document in (body, report_body())] == [status, status]
    assert Report.objects.count() == 1


# --- how fast, and when things are away ---


def test_a_key_that_sends_too_fast_is_told_when_to_come_back(post, sender_with, lab, settings):
    settings.UPLOADS_PER_MINUTE = 3
    answers = [post(body) for body in (report_body(), b"{", report_body(), report_body())]
    assert [answer.status_code for answer in answers] == [202, 422, 202, 429]  # bad ones count too
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert sender_with(lab=lab)(report_body()).status_code == 202


@pytest.mark.parametrize(
    "place", ["stackviz.records.labs.models.Report.objects.create", "stackviz.intake.ingest.api.recognise"]
)
def test_unavailable_database_is_503_with_retry_after(post, monkeypatch, place):
    def locked(*_, **__):
        raise OperationalError("database is locked")

    post(report_body())
    monkeypatch.setattr(place, locked)
    response = post(report_body())
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert "locked" not in response.json()["error"]


def test_report_that_could_not_be_queued_is_due_at_once(post, monkeypatch):
    monkeypatch.setattr(tasks, "is_broker_unreachable", lambda: True)
    post(report_body())
    assert Report.objects.get().queued_at is None


# --- the rest of the answer ---


def test_links_of_a_private_lab_are_signed(sender_with, client):
    post = sender_with(lab=Lab.objects.create(slug="dark", name="Dark", is_public=False))
    answer = post(report_body()).json()
    for link in (answer["status_url"], answer["receipt_url"]):
        assert client.get(link).status_code == 200
        assert client.get(link.partition("?")[0]).status_code == 404
        assert client.get(link[:-1] + "_").status_code == 404


def test_large_and_apple_reports_are_taken_too(post):
    assert post(apple_report_body()).status_code == 202
    assert UUID(str(Report.objects.get().pk)).version == 4
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE > 4 * 1024 * 1024  # larger than Django's own limit
    assert post(report_body(id=str(uuid4()), padding=["x" * 4000] * 900)).status_code == 202
