"""Nothing that was accepted is lost, nothing is counted twice: real gunicorn, real Celery, real Redis, kill -9."""

import json
import queue
import time

import pytest

from stackviz.agent.spool import Spool
from stackviz.wire import parse_report
from tests.ingest.senders import Sender, box_of, counts
from tests.wire.reports import report_body

REPORTS = 500
MACHINES = 10
SENDERS = 4
PAUSE_S = 0.1  # with it uploads go on while workers die
WORKER_DEATHS = 5
PATIENCE_S = 150.0


@pytest.mark.parametrize("database", ["postgresql", "sqlite"])
def test_500_reports_survive_five_dead_workers_and_a_dead_broker(database, new_site, redis_server, request):
    url = request.getfixturevalue("migrated_postgres") if database == "postgresql" else ""
    site = new_site(
        database_url=url,
        redis_url=redis_server.url,
        REQUEUE_EVERY_S="1",
        UPLOADS_PER_MINUTE="100000",
        LOG_LEVEL="WARNING",
    )
    key = site.new_key()
    site.start_web()
    site.start_worker(beat=True)
    box = box_of(REPORTS, MACHINES)
    senders = [Sender(site, key, box, PAUSE_S) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    for death in range(WORKER_DEATHS):
        time.sleep(0.5)
        site.kill("worker")
        (site.folder / "worker.log").rename(site.folder / f"worker-{death}.log")
        if death == WORKER_DEATHS // 2:
            redis_server.kill()
            time.sleep(0.5)
            redis_server.start()
        site.start_worker(beat=True)
    for sender in senders:
        sender.join(PATIENCE_S)
    answers = [answer for sender in senders for answer in sender.answers]
    assert set(answers) == {202}, "the broker's death was felt by a sender"
    assert len(answers) == REPORTS
    site.wait_until(lambda: counts(site)["status"] == {"read": REPORTS}, "every report is read", PATIENCE_S)
    assert counts(site) == {
        "status": {"read": REPORTS},
        "machines": MACHINES,
        "snapshots": REPORTS,
        "cards": REPORTS,
        "series": 2 * MACHINES,
        "results": 2 * REPORTS,
    }


def test_queued_report_needs_no_periodic_task(new_site, redis_server):
    site = new_site(redis_url=redis_server.url)
    key = site.new_key()
    site.start_web(workers=1)
    site.start_worker()
    box: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    box.put(json.dumps(body := report_body()).encode())
    Sender(site, key, box).run()
    started = time.monotonic()
    status = ""
    while status != "read" and time.monotonic() - started < PATIENCE_S:
        time.sleep(0.1)
        status = json.loads(site.get(f"/api/v1/reports/{body['id']}/")[1])["status"]
    assert status == "read"


def test_uploads_continue_without_broker(new_site, redis_server):
    site = new_site(redis_url=redis_server.url, REQUEUE_EVERY_S="1")
    key = site.new_key()
    site.start_web(workers=1)
    redis_server.kill()
    started = time.monotonic()
    sender = Sender(site, key, box_of(20))
    sender.run()
    assert sender.answers == [202] * 20
    assert time.monotonic() - started < 60  # twenty waits for a broker that is not there would take longer
    redis_server.start()
    site.start_worker(beat=True)
    site.wait_until(lambda: counts(site)["status"] == {"read": 20}, "the waiting reports are read")


@pytest.mark.parametrize("moment_s", [0.0, 0.05, 0.2])
def test_killed_web_process_loses_no_report(new_site, redis_server, moment_s):
    site = new_site(redis_url=redis_server.url, REQUEUE_EVERY_S="1")
    key = site.new_key()
    site.start_web(workers=1)
    site.start_worker(beat=True)
    sender = Sender(site, key, box_of(40))
    sender.start()
    time.sleep(moment_s)
    site.kill("web")
    site.start_web(workers=1)
    sender.join(PATIENCE_S)
    assert not sender.is_alive()
    assert sender.answers.count(202) + sender.answers.count(200) == 40
    site.wait_until(lambda: counts(site)["status"] == {"read": 40}, "every report is read")
    assert counts(site)["results"] == 80


def test_spool_delivers_after_web_crash(new_site, redis_server, tmp_path):
    site = new_site(redis_url=redis_server.url, REQUEUE_EVERY_S="1")
    site.env["ACCELWEB_KEY"] = site.new_key()
    site.start_web(workers=1)
    site.start_worker(beat=True)
    spool = Spool(tmp_path / "spool")
    box = box_of(60)
    for _ in range(60):
        spool.put(parse_report(box.get_nowait()))
    arguments = ["stackviz.agent", "upload", "--spool", str(spool.folder), "--server", site.url, "--yes", "--quiet"]
    agent = site.start("agent", *arguments)
    for _ in range(2):
        time.sleep(0.3)
        site.kill("web")
        site.start_web(workers=1)
    assert agent.wait(120) == 0, site.log("agent")
    del site.children["agent"]
    assert list(spool.waiting()) == []
    site.wait_until(lambda: counts(site)["status"] == {"read": 60}, "every report is read")
    assert counts(site)["results"] == 120
