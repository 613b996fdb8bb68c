"""Reports arrive whatever is away meanwhile: periodic tasks, the broker, the web process. One site for all tests here."""

import json
import queue
import shutil
import time
from collections.abc import Iterator

import pytest

from stackviz.agent.spool import Spool
from stackviz.report.format import parse_report
from tests import servers
from tests.conftest import contextmanager_or_skip
from tests.curated import migrated_file
from tests.intake.ingest.senders import Sender, box_of, counts
from tests.live import Site
from tests.report.format.reports import report_body

PATIENCE_S = 150.0


class RedisSite(Site):
    """A site with one web process and a worker, a key to send with, and the Redis it uses."""

    key: str
    redis: servers.RedisServer

    def start_beat(self) -> None:
        if "beat" not in self.children:
            super().start_beat()

    def stop_beat(self) -> None:
        if "beat" in self.children:
            self.kill("beat")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[RedisSite]:
    folder = tmp_path_factory.mktemp("delivery")
    shutil.copy(migrated_file(), folder / "accelweb.sqlite3")
    with contextmanager_or_skip(servers.own_redis()) as redis:
        made = RedisSite(folder, redis_url=redis.url, REQUEUE_EVERY_S="1")
        made.redis = redis
        try:
            made.key = made.env["ACCELWEB_KEY"] = made.new_key()
            made.start_web(workers=1)
            made.start_worker()
            yield made
        finally:
            made.stop()


@pytest.fixture
def arrive(site):
    """Waits until this many more reports than before the test were read, and looks that nothing was counted twice."""
    before = counts(site)

    def wait(reports: int) -> None:
        def is_read() -> bool:
            return counts(site)["status"] == {"read": before["status"].get("read", 0) + reports}

        site.wait_until(is_read, "every report is read")
        assert counts(site)["results"] - before["results"] == 2 * reports

    return wait


@pytest.mark.fast
def test_queued_report_needs_no_periodic_task(site, arrive):
    """On a busy machine the broker may be asked too late once: such a report does need one, which begins at the end."""
    site.stop_beat()
    sent = next((sent for sent in (1, 2, 3) if is_read_soon(site)), 0)
    assert sent, "none of three reports was read without a periodic task"
    site.start_beat()
    arrive(sent)


def is_read_soon(site) -> bool:
    """Sends a report, and waits until it is read."""
    box: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    box.put(json.dumps(body := report_body()).encode())
    Sender(site, site.key, box).run()
    end = time.monotonic() + PATIENCE_S / 3
    while time.monotonic() < end:
        time.sleep(0.1)
        if json.loads(site.get(f"/api/v1/reports/{body['id']}/")[1])["status"] == "read":
            return True
    return False


def test_uploads_continue_without_broker(site, arrive):
    site.stop_beat()
    site.kill("worker")
    site.redis.kill()
    started = time.monotonic()
    sender = Sender(site, site.key, box_of(20))
    sender.run()
    assert sender.answers == [202] * 20
    assert time.monotonic() - started < 60  # twenty waits for a broker that is not there would take longer
    site.redis.start()
    (site.folder / "worker.log").unlink()
    site.start_worker()
    site.start_beat()
    arrive(20)


def test_killed_web_process_loses_no_report(site, arrive):
    site.start_beat()
    sender = Sender(site, site.key, box_of(40))
    sender.start()
    time.sleep(0.05)  # while reports are on their way
    site.kill("web")
    site.start_web(workers=1)
    sender.join(PATIENCE_S)
    assert not sender.is_alive()
    assert sender.answers.count(202) + sender.answers.count(200) == 40
    arrive(40)


def test_spool_delivers_after_web_crash(site, arrive, tmp_path):
    site.start_beat()
    spool = Spool(tmp_path / "spool")
    box = box_of(60)
    for _ in range(60):
        spool.put(parse_report(box.get_nowait()))
    arguments = ["stackviz.agent", "upload", "--spool", str(spool.folder), "--server", site.url, "--yes", "--quiet"]
    agent = site.start("agent", *arguments)
    del site.children["agent"]  # on a quick machine it ends before the web process is back
    try:
        for _ in range(2):
            time.sleep(0.3)
            site.kill("web")
            site.start_web(workers=1)
        assert agent.wait(120) == 0, site.log("agent")
    finally:
        agent.kill()
    assert list(spool.waiting()) == []
    arrive(60)
