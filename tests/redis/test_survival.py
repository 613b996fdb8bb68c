"""Nothing that was accepted is lost, nothing is counted twice: real gunicorn, real Celery, real Redis, kill -9."""

import time

import pytest

from tests.intake.ingest.senders import Sender, box_of, counts

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
