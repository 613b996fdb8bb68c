"""PostgreSQL, then Redis, stopped with SIGSTOP while reports come in: they take connections and say nothing."""

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from tests import servers
from tests.deploy.front import Front, visit
from tests.intake.ingest.senders import Sender, box_of
from tests.trials.delivery import add_delivery, join, seconds_to_drain, start_senders
from tests.trials.deployment import Deployment, deployed
from tests.trials.outcome import Outcome
from tests.trials.visitors import Visitor

EVERY_S = 0.5
WITHIN_S = 17.0  # DATABASE_TIMEOUT_S, two seconds more, and what two busy cores add
REST_S = 5.0


def run(reports: int, seconds: float) -> Outcome:
    outcome = Outcome(f"PostgreSQL and Redis hang for {seconds:.0f} s each, {reports:,} reports")
    with deployed(PROXIES="1", ALLOWED_HOSTS="127.0.0.1") as deployment, fronted(deployment) as front:
        site = deployment.site
        deployment.start_all()
        repeat = box_of(1).get()
        first = Sender(site, deployment.key, box_of(0))
        first.box.put(repeat)
        first.start()
        first.join()
        asked = {
            "a page": lambda: visit(f"{site.url}/accelerators/"),
            "a style sheet, from the front": lambda: visit(f"{front.url}/static/css/base.css"),
            "the catalogue by API, from the front": lambda: visit(f"{front.url}/api/v1/accelerators/"),
            "a report sent again": lambda: send(site.url, deployment.key, repeat),
        }
        for ask in asked.values():
            ask()
        senders = [first, *start_senders(site, deployment.key, reports, 2 * (seconds + REST_S))]
        parts = {
            "nothing": list[psutil.Process],
            "PostgreSQL": deployment.postgres.processes,
            "Redis": lambda: [psutil.Process(deployment.redis.child.pid)],
        }
        for part, processes in parts.items():
            visitors = {what: Visitor(ask, EVERY_S) for what, ask in asked.items()}
            with ExitStack() as asking, servers.stopped(processes()):
                for visitor in visitors.values():
                    asking.enter_context(visitor)
                time.sleep(seconds if processes() else REST_S)
            for what, visitor in visitors.items():
                outcome.add(f"{part} stopped: {what}", visitor.summary())
                outcome.expect(visitor.worst_s < WITHIN_S, f"{what} took {visitor.worst_s:.0f} s")
            time.sleep(REST_S)
        join(senders)
        outcome.add("all read after", f"{seconds_to_drain(site):.1f} s")
        add_delivery(outcome, site, senders, reports + 1)
    return outcome


@contextmanager
def fronted(deployment: Deployment) -> Iterator[Front]:
    folder: Path = deployment.site.folder / "front"
    front = Front(folder, f"127.0.0.1:{deployment.site.port}")
    try:
        front.start()
        yield front
    finally:
        front.stop()


def send(url: str, key: str, body: bytes) -> tuple[int, float]:
    """A report -> status and seconds."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    started = time.monotonic()
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{url}/api/v1/reports/", body, headers), timeout=60
        ) as answer:
            return answer.status, time.monotonic() - started
    except urllib.error.HTTPError as error:
        return error.code, time.monotonic() - started
