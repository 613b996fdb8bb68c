"""Signs of life: what they note, whom they may speak for, and when a machine counts as silent."""

from datetime import timedelta

import pytest
from django.utils import timezone

from stackviz.records.labs.heartbeats import signs_of_life, silent_machines
from stackviz.records.labs.keys import revoke
from stackviz.records.labs.models import AgentHeartbeat, Lab, Machine
from tests.report.format.reports import report_body, sha256

ADDRESS = "/api/v1/heartbeat/"
EVERY_S = 6 * 3600


@pytest.fixture
def machine(lab):
    return Machine.objects.create(lab=lab, slug="m", name="Rack 7", identity=sha256("mine"))


def beat(client, sender, **changes):
    body = {"identity": sha256("mine"), "every_s": EVERY_S} | changes
    headers = {"Authorization": f"Bearer {sender.secret}"}
    return client.post(ADDRESS, body, content_type="application/json", headers=headers)


def test_a_sign_of_life_is_noted_and_answered(client, post, machine, lab, django_assert_num_queries):
    busy = "other programs use 43% of the processors"
    response = beat(client, post, busy=busy)
    noted = AgentHeartbeat.objects.get()
    assert (response.status_code, response.json()["machine"]) == (200, {"slug": "m", "name": "Rack 7"})
    assert (noted.machine, noted.every_s, noted.key, noted.busy) == (machine, EVERY_S, post.key, busy)
    assert response.json()["silent_from"][:16] == f"{noted.heard_at + timedelta(hours=13):%Y-%m-%dT%H:%M}"
    post.key.refresh_from_db()
    assert post.key.last_used_at is not None
    with django_assert_num_queries(3):  # whether the key still holds, the machine, the note
        beat(client, post, every_s=3600)
    noted.refresh_from_db()
    assert (noted.every_s, noted.busy) == (3600, "")
    stays = Machine.objects.create(lab=lab, slug="stays", name="Stays")
    Machine.objects.filter(pk=machine.pk).update(merged_into=stays)
    assert beat(client, post).json()["machine"]["slug"] == "stays"


def test_a_key_speaks_for_its_machine_and_lab_only(client, post, sender_with, lab, machine):
    other = Machine.objects.create(lab=lab, slug="other", name="Other", identity=sha256("other"))
    response = beat(client, sender_with(lab=lab, machine=other))
    assert (response.status_code, response.json()["field"]) == (403, "machine.identity")
    elsewhere = sender_with(lab=Lab.objects.create(slug="south", name="South lab", is_public=True))
    unknown = {"machine": None, "silent_from": None}
    for answer in (beat(client, elsewhere), beat(client, post, identity=sha256("not reported yet"))):
        assert (answer.status_code, answer.json()) == (200, unknown)
    assert not AgentHeartbeat.objects.exists()


def test_a_revoked_key_is_not_heard(client, post, machine):
    beat(client, post)
    revoke(post.key)
    assert beat(client, post, every_s=3600).status_code == 403
    assert AgentHeartbeat.objects.get().every_s == EVERY_S


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"every_s": 5}, "every_s"),
        ({"every_s": 10**9}, "every_s"),
        ({"every_s": "often"}, "every_s"),
        ({"identity": "rack-7"}, "identity"),
        ({"busy": "x" * 201}, "busy"),
        ({"busy": "\x1b[2J"}, "busy"),
        ({"busy": "\0"}, "busy"),
    ],
)
def test_what_is_no_sign_of_life_names_the_field(client, post, machine, changes, field):
    response = beat(client, post, **changes)
    assert (response.status_code, response.json()["field"]) == (422, field)


def test_what_is_no_json_is_400(client, post):
    headers = {"Authorization": f"Bearer {post.secret}"}
    assert client.post(ADDRESS, "{", content_type="application/json", headers=headers).status_code == 400


def test_they_are_counted_by_key(client, post, machine, settings):
    settings.UPLOADS_PER_MINUTE = 2
    assert [beat(client, post).status_code for _ in range(3)] == [200, 200, 429]


def test_agents_that_send_none_are_accepted_and_never_silent(post, lab, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        assert post(report_body()).status_code == 202
    later = timezone.now() + timedelta(days=400)
    assert silent_machines(lab, later) == []


def test_silent_is_who_missed_two_turns_and_an_hour(client, post, machine, lab):
    beat(client, post)
    heard_at = AgentHeartbeat.objects.get().heard_at
    assert silent_machines(lab, heard_at + timedelta(hours=12, minutes=59)) == []
    ((silent, sign),) = silent_machines(lab, heard_at + timedelta(days=9))
    assert (silent, sign.is_silent, sign.every) == (machine, True, timedelta(hours=6))
    assert sign.silent_since == heard_at + timedelta(hours=13)


def test_signs_of_many_machines_cost_one_query(lab, django_assert_num_queries):
    machines = [Machine.objects.create(lab=lab, slug=f"m{n}", name="m") for n in range(20)]
    AgentHeartbeat.objects.bulk_create(AgentHeartbeat(machine=machine, every_s=3600) for machine in machines)
    with django_assert_num_queries(1):
        assert len(signs_of_life(machines)) == 20
