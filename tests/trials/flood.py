"""An innocent page, asked for five times a second through the front, beside slow clients, idle ones and floods."""

import resource
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.curated import curated_file
from tests.deploy.compose import path_with_venv
from tests.deploy.front import Front, visit
from tests.deploy.slow_clients import slow_clients
from tests.deploy.test_behind_front import IDLE, PATIENCE_S, SHEET, SLOW_OF_EACH_KIND, web
from tests.live import Site
from tests.trials.floods import KINDS, flood
from tests.trials.outcome import Outcome
from tests.trials.visitors import Visitor

EVERY_S = 0.2
REST_S = 3.0


def run(seconds: float, clients: int) -> Outcome:
    outcome = Outcome(f"a spec sheet through the front, {seconds:.0f} s each; floods of {clients} clients")
    with fronted_site() as front:
        with innocent(front) as visitor:
            time.sleep(seconds)
        outcome.add("alone", visitor.summary())
        with slow_clients(front.port, SLOW_OF_EACH_KIND), innocent(front) as visitor:
            time.sleep(seconds)
        note(outcome, f"{4 * SLOW_OF_EACH_KIND} slow clients", visitor)
        with idle_connections(front.port, IDLE), innocent(front) as visitor:
            time.sleep(seconds)
        note(outcome, f"{IDLE:,} idle connections", visitor)
        for kind in KINDS:
            with flood(kind, front.port, clients) as flooding, innocent(front) as visitor:
                time.sleep(seconds)
            note(outcome, f"a flood of {kind}", visitor)
            outcome.add(f"{kind} answered", flooding.summary(seconds))
            time.sleep(REST_S)
    return outcome


def note(outcome: Outcome, beside: str, visitor: Visitor) -> None:
    outcome.add(f"beside {beside}", visitor.summary())
    outcome.expect({status for status, _took_s in visitor.seen} == {200}, f"beside {beside} not every answer was 200")
    outcome.expect(visitor.worst_s < PATIENCE_S, f"beside {beside} the page took {visitor.worst_s:.1f} s")


def innocent(front: Front) -> Visitor:
    return Visitor(lambda: visit(front.url + SHEET), EVERY_S)


@contextmanager
def fronted_site() -> Iterator[Front]:
    """The front, and behind it `web` as composed, with the catalogue in SQLite."""
    folder = Path(tempfile.mkdtemp(prefix="accelweb-flood-"))
    shutil.copy(curated_file(), folder / "accelweb.sqlite3")
    site = Site(folder, PROXIES="1", ALLOWED_HOSTS="127.0.0.1", LOG_LEVEL="WARNING")
    site.env["PATH"] = path_with_venv()
    front = Front(folder / "front", f"127.0.0.1:{site.port}")
    with ExitStack() as ending:
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        ending.callback(site.stop)
        ending.callback(front.stop)
        web(site, "web", site.port)
        site.wait_until(site.answers, "web answers")
        front.start()
        for _ in range(12):  # the catalogue and what can be searched are read once by each process
            visit(front.url + SHEET)
            visit(f"{front.url}/search/?q=h100")
        yield front


@contextmanager
def idle_connections(port: int, count: int) -> Iterator[None]:
    """So many that asked for something once and stay; one whose time is up is not opened again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * count), hard))
    idle: list[socket.socket] = []
    try:
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=10, source_address=("127.0.0.2", 0))
            idle.append(client)
            client.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            client.recv(12)
        yield
    finally:
        for client in idle:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
