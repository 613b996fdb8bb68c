"""A new version while reports come in: two web processes, one restarted after the other, and nobody loses a report."""

import queue
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest

from tests import servers
from tests.conftest import contextmanager_or_skip
from tests.curated import migrated_file
from tests.deploy.front import Front, nginx_binary
from tests.intake.ingest.senders import Box, Sender, box_of, counts
from tests.live import Site, free_port

WEBS = ("web-1", "web-2")
SENDERS = 4
REPORTS = 3_000  # more than are sent meanwhile
ENDS_WITHIN_S = 40  # as `docker stop --time 40` waits


class TwoWebs(Site):
    """A site with two web processes, each on a port of its own, and a worker."""

    def __init__(self, *arguments: object, **named: str) -> None:
        super().__init__(*arguments, **named)
        self.ports = {name: free_port() for name in WEBS}

    def start_one(self, name: str) -> None:
        self.start(
            name, "gunicorn", "accelweb.wsgi", "--bind", f"127.0.0.1:{self.ports[name]}", "--workers", "1",
            "--worker-class", "gthread", "--threads", "4", "--no-control-socket",
        )  # fmt: skip
        self.url = f"http://127.0.0.1:{self.ports[name]}"
        self.wait_until(self.answers, f"{name} answers")

    def restart_one(self, name: str) -> None:
        """As `docker stop` and a new container do it: it finishes its requests, then another takes its place."""
        ending: subprocess.Popen[bytes] = self.children.pop(name)
        ending.send_signal(signal.SIGTERM)
        assert ending.wait(ENDS_WITHIN_S) == 0, self.log(name)[-2000:]
        self.start_one(name)


@pytest.fixture
def site(tmp_path) -> Iterator[TwoWebs]:
    shutil.copy(migrated_file(), tmp_path / "accelweb.sqlite3")
    with contextmanager_or_skip(servers.own_redis()) as redis:
        made = TwoWebs(tmp_path, redis_url=redis.url, REQUEUE_EVERY_S="1", PROXIES="1", UPLOADS_PER_MINUTE="100000")
        try:
            for name in WEBS:
                made.start_one(name)
            made.start_worker(beat=True)
            yield made
        finally:
            made.stop()


@pytest.fixture
def addresses(site) -> Iterator[list[str]]:
    """Where agents send to: the front, or each of the two where there is no nginx."""
    try:
        nginx_binary()
    except servers.NotHere:
        yield [f"http://127.0.0.1:{port}" for port in site.ports.values()]
        return
    front = Front(site.folder / "front", *(f"127.0.0.1:{port}" for port in site.ports.values()))
    try:
        front.start()
        yield [front.url]
    finally:
        front.stop()


def drain(box: Box) -> int:
    """Take out what nobody has begun to send -> how many that was."""
    left = 0
    with suppress(queue.Empty):
        while box.get_nowait():
            left += 1
    return left


def test_no_report_is_lost_while_processes_are_restarted(site, addresses):
    key, box = site.new_key(), box_of(REPORTS, machines=8)
    senders = [
        Sender(SimpleNamespace(url=addresses[number % len(addresses)]), key, box, pause_s=0.1)
        for number in range(SENDERS)
    ]
    for sender in senders:
        sender.start()
    sent_before = []
    for name in WEBS:
        time.sleep(0.5)
        sent_before.append(REPORTS - box.qsize())
        site.restart_one(name)
    left = drain(box)
    assert left, "all was sent before the second process was back: the test shows nothing"
    sent = REPORTS - left
    assert 0 < sent_before[0] < sent_before[1] < sent  # agents went on sending all the time
    for sender in senders:
        sender.join(120)
    assert not any(sender.is_alive() for sender in senders)
    answers = [answer for sender in senders for answer in sender.answers]
    assert sum(answer in {200, 202} for answer in answers) == sent
    assert set(answers) <= {200, 202, 0, 502, 503}, answers
    site.wait_until(lambda: counts(site)["status"] == {"read": sent}, "every report is read", 120)
    found = counts(site)
    assert (found["machines"], found["snapshots"], found["results"]) == (8, sent, 2 * sent)
    refused = sum(answer not in {200, 202} for answer in answers)
    print(f"{sent} reports, {refused} sent again, {answers.count(200)} of them stored already")
