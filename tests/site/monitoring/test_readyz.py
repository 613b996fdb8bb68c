"""`/healthz`, `/readyz`: what fails, who learns why, what it costs."""

import json
import time
from dataclasses import asdict
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from stackviz.site.monitoring import heartbeats, readiness
from tests.pages.machines.factories import make_lab, make_machine, make_waiting_report

pytestmark = pytest.mark.django_db

TOKEN = "a-token-for-tests"
CHECKS = ["database", "broker", "worker", "beat", "disk", "reports"]


@pytest.fixture(autouse=True)
def folder(settings, tmp_path, monkeypatch):
    """A VAR_DIR of its own with a file broker in it; nobody has looked and nobody was seen yet."""
    (tmp_path / "broker/queue").mkdir(parents=True)
    settings.VAR_DIR, settings.MONITORING_TOKEN = tmp_path, TOKEN
    monkeypatch.setattr(readiness, "_cached", None)
    monkeypatch.setattr(heartbeats, "_written", {})
    return tmp_path


@pytest.fixture
def all_there():
    heartbeats.record_heartbeat("worker")
    heartbeats.record_heartbeat("beat")


def look(client, **extra):
    return client.get("/readyz", HTTP_AUTHORIZATION=f"Bearer {TOKEN}", **extra)


def test_a_clock_that_is_set_back_silences_nobody(folder):
    with time_machine.travel(timedelta(hours=1)):
        heartbeats.record_heartbeat("worker")
    heartbeats._written["worker"] -= heartbeats.WRITE_EVERY_S  # ten seconds later
    heartbeats.record_heartbeat("worker")
    (worker,) = heartbeats.heartbeats()
    assert abs(worker.at - time.time()) < 60


def test_process_from_before_a_clock_was_set_back_is_gone(client, folder):
    with time_machine.travel(timedelta(hours=1)):
        heartbeats.record_heartbeat("worker")
        heartbeats.record_heartbeat("beat")
    answer = look(client).json()["checks"]
    assert answer["worker"].startswith("no worker")
    with time_machine.travel(timedelta(hours=1)):  # nor when the clock is where it was
        readiness._cached = None
        assert look(client).json()["checks"]["worker"].startswith("no worker")
    heartbeats._written.clear()
    heartbeats.record_heartbeat("worker")
    readiness._cached = None
    assert look(client).json()["checks"]["worker"] == "ok"


def test_ready_site_answers_200_with_every_check(client, all_there, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/healthz").json() == {"status": "ok"}
    lab = make_lab()
    for number in range(30):
        make_waiting_report(make_machine(lab, f"m{number}"), timezone.now())
    with django_assert_num_queries(1):
        answer = look(client)
    with django_assert_num_queries(0):
        look(client)  # asked again within a while
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "checks": dict.fromkeys(CHECKS, "ok")}
    assert "no-store" in answer["Cache-Control"]


def test_absent_worker_and_beat_are_named(client):
    answer = look(client)
    assert answer.status_code == 503
    bad = {name: reason for name, reason in answer.json()["checks"].items() if reason != "ok"}
    assert bad.keys() == {"worker", "beat"}
    assert all(reason.startswith(f"no {name}") for name, reason in bad.items())


@pytest.mark.parametrize(
    ("kind", "silent_s", "status"), [("worker", 59, 200), ("worker", 70, 503), ("beat", 70, 200), ("beat", 160, 503)]
)
def test_silent_process_is_named(client, all_there, folder, kind, silent_s, status):
    file = next((folder / "heartbeats").glob(f"{kind}-*.json"))
    file.write_text(json.dumps(json.loads(file.read_text()) | {"at": time.time() - silent_s}))
    answer = look(client)
    assert answer.status_code == status
    assert ("not seen for" in answer.json()["checks"][kind]) == (status == 503)


def test_report_that_waits_too_long_fails_the_check(client, all_there, settings):
    machine = make_machine(make_lab(), "dgx-07")
    make_waiting_report(machine, timezone.now() - timedelta(seconds=500))
    assert look(client).status_code == 200
    readiness._cached, settings.READY_WAITING_S = None, 400
    assert look(client).json()["checks"]["reports"].startswith("a report has waited for 50")


def test_little_space_and_a_broken_broker_fail_the_check(client, folder, settings):
    settings.READY_DISK_FREE_MB = 10**9
    (folder / "broker/queue").rmdir()
    checks = look(client).json()["checks"]
    assert "MB left under VAR_DIR, less than 1000000000" in checks["disk"]
    assert "cannot be written" in checks["broker"]
    settings.REDIS_URL, readiness._cached = "redis://127.0.0.1:1/0", None
    checks = look(client).json()["checks"]
    assert "ConnectionError" in checks["broker"]
    assert checks["worker"].startswith("unknown: ")


@pytest.mark.parametrize(
    ("extra", "sees_reasons"),
    [
        ({"REMOTE_ADDR": "127.0.0.1"}, True),
        ({"REMOTE_ADDR": "::1"}, True),
        ({"REMOTE_ADDR": "203.0.113.9"}, False),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "203.0.113.9"}, False),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_VIA": "1.1 proxy"}, False),
        ({"REMOTE_ADDR": ""}, False),
        ({"REMOTE_ADDR": "203.0.113.9", "HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}, True),
        ({"REMOTE_ADDR": "203.0.113.9", "HTTP_AUTHORIZATION": "Bearer wrong"}, False),
        ({"REMOTE_ADDR": "203.0.113.9", "HTTP_AUTHORIZATION": "Bearer é"}, False),
    ],
)
def test_strangers_see_no_reasons(client, settings, extra, sees_reasons):
    checks = client.get("/readyz", **extra).json()["checks"]
    assert list(checks) == CHECKS
    assert (checks["worker"] == "failing") is not sees_reasons
    settings.METRICS = True
    assert client.get("/metrics", **extra).status_code == (200 if sees_reasons else 403)


def test_no_token_set_lets_nobody_in(client, settings):
    settings.MONITORING_TOKEN = ""
    answer = client.get("/readyz", REMOTE_ADDR="203.0.113.9", HTTP_AUTHORIZATION="Bearer ")
    assert answer.json()["checks"]["worker"] == "failing"
    assert client.get("/metrics").status_code == 404  # it has a switch


@pytest.mark.parametrize("address", ["/readyz", "/metrics"])
def test_guesses_of_the_token_wait_and_the_right_one_does_not(client, all_there, settings, address):
    settings.METRICS, settings.KEY_GUESSES_PER_CLIENT, settings.MONITORING_NETWORKS = True, 2, []
    guesses = [client.get(address, HTTP_AUTHORIZATION=f"Bearer wrong-{number}") for number in range(3)]
    assert [answer.status_code for answer in guesses] == [guesses[0].status_code] * 2 + [429]
    assert int(guesses[-1]["Retry-After"]) > 0
    assert client.get(address, HTTP_AUTHORIZATION=f"Bearer {TOKEN}").status_code == 200
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("kept_in", ["redis", "files"])
def test_processes_of_the_day_before_are_deleted_on_reading(settings, kept_in, request):
    settings.REDIS_URL = request.getfixturevalue("redis_server").url if kept_in == "redis" else ""
    long_ago = time.time() - heartbeats.FORGET_AFTER_S - 1
    for pid, at in ((1, long_ago), (2, long_ago), (3, time.time())):
        heartbeat = heartbeats.Heartbeat("worker", "here", pid, "1", long_ago, at)
        heartbeats._store(heartbeat.name, json.dumps(asdict(heartbeat)))
    assert [heartbeat.pid for heartbeat in heartbeats.heartbeats()] == [3]
    assert [json.loads(text)["pid"] for text in heartbeats._stored()] == [3]
