"""Reports come in while every process of the whole site is killed at random, whole or one child of it.

Each part of the site is a process of its own that can be killed and started, as with compose, without a front.
"""

import random
import shutil
import statistics
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests import servers
from tests.intake.ingest.senders import Sender, box_of, counts
from tests.live import Site


@dataclass
class Outcome:
    """Rows (what, measured) in the order of their addition; `wrong`: what the site promises and did not do."""

    name: str
    rows: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, what: str, measured: object) -> None:
        self.rows.append((what, str(measured)))

    def expect(self, holds: object, otherwise: str) -> None:
        if not holds:
            self.wrong.append(otherwise)

    def table(self) -> str:
        verdict = "; ".join(self.wrong) or "as promised"
        rows = [(self.name, "measured"), ("---", "---"), *self.rows, ("verdict", verdict)]
        return "\n".join(f"| {what} | {measured} |" for what, measured in rows)


def spread(seconds: Sequence[float]) -> str:
    """`p50 0.01 s, p95 0.20 s, worst 3.10 s`."""
    if not seconds:
        return "none"
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"p50 {statistics.median(ordered):.2f} s, p95 {p95:.2f} s, worst {ordered[-1]:.2f} s"


# What nobody may hold a trial up with: reports that were lost on the way are queued again after four seconds.
QUICK = {"REQUEUE_EVERY_S": "1", "UPLOADS_PER_MINUTE": "1000000", "LOG_LEVEL": "WARNING"}


@dataclass(frozen=True)
class Deployment:
    """Its web, worker and beat are children of `site`."""

    site: Site
    postgres: servers.PostgresServer
    redis: servers.RedisServer
    key: str

    def start_all(self) -> None:
        self.site.start_web()
        self.site.start_worker()
        self.site.start_beat()

    def processes(self) -> dict[str, list[psutil.Process]]:
        """By role: `web` and `web child`, and so on; those that live now."""
        mains = {name: child.pid for name, child in self.site.children.items()}
        if self.redis.child:
            mains["redis"] = self.redis.child.pid
        found = {"postgres": self.postgres.processes()}
        for name, pid in mains.items():
            with suppress(psutil.NoSuchProcess):
                main = psutil.Process(pid)
                found[name] = [main]
                found[f"{name} child"] = main.children()
        return {role: processes for role, processes in found.items() if processes}


@contextmanager
def deployed(**variables: str) -> Iterator[Deployment]:
    """A site with tables on servers of its own; nothing of it is started but these. Raises NotHere."""
    folder = Path(tempfile.mkdtemp(prefix="accelweb-trial-"))
    with servers.own_postgres() as postgres, servers.own_redis() as redis:
        site = Site(folder, database_url=servers.new_database(postgres.url), redis_url=redis.url, **QUICK | variables)
        try:
            site.manage("migrate", "-v", "0")
            yield Deployment(site, postgres, redis, site.new_key())
        finally:
            site.stop()
            shutil.rmtree(folder, ignore_errors=True)


SENDERS = 8
MACHINES = 20
RESULTS_A_REPORT = 2
LONGEST_S = 600.0


def start_senders(site: Site, key: str, reports: int, seconds: float = 0.0) -> list[Sender]:
    """Agents that send so many reports, spread over about so many seconds."""
    box = box_of(reports, MACHINES)
    senders = [Sender(site, key, box, pause_s=SENDERS * seconds / reports) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    return senders


def join(senders: Sequence[Sender]) -> None:
    until = time.monotonic() + LONGEST_S
    for sender in senders:
        sender.join(max(0.0, until - time.monotonic()))


def seconds_to_drain(site: Site, longest_s: float = LONGEST_S) -> float:
    """Until no report waits; infinite where one still does after so long."""
    started = time.monotonic()
    while time.monotonic() - started < longest_s:
        if not site.rows("SELECT 1 FROM labs_report WHERE status = 'received' LIMIT 1"):
            return time.monotonic() - started
        time.sleep(0.2)
    return float("inf")


def add_delivery(outcome: Outcome, site: Site, senders: Sequence[Sender], reports: int) -> None:
    """What senders were answered, what became of the reports, and what of it is wrong."""
    answers = Counter(answer for sender in senders for answer in sender.answers)
    accepted = answers[202] + answers[200]
    found = counts(site)
    # Of a report with two results: none at all of one that was not read, four of one that was read twice.
    other = site.rows(
        "SELECT COUNT(*) FROM (SELECT report_id FROM benchmarks_result GROUP BY report_id"
        f" HAVING COUNT(*) <> {RESULTS_A_REPORT}) AS other"
    )
    outcome.add("answers", ", ".join(f"{status or 'none'} x {count:,}" for status, count in sorted(answers.items())))
    outcome.add("from the first attempt to 202 or 200", spread([took for sender in senders for took in sender.took_s]))
    outcome.add(
        "accepted / read / failed",
        f"{accepted:,} / {found['status'].get('read', 0):,} / {found['status'].get('failed', 0):,}",
    )
    outcome.add("results", f"{found['results']:,} of {RESULTS_A_REPORT * reports:,}")
    outcome.expect(accepted == reports, f"{reports - accepted} reports were never accepted")
    outcome.expect(found["status"] == {"read": reports}, f"reports by status: {found['status']}")
    outcome.expect(found["snapshots"] == reports, f"{found['snapshots']} snapshots of {reports} reports")
    outcome.expect(found["machines"] == min(MACHINES, reports), f"{found['machines']} machines of {MACHINES}")
    outcome.expect(found["results"] == RESULTS_A_REPORT * reports, f"{found['results']} results of {reports} reports")
    outcome.expect(other == [(0,)], f"{other[0][0]} reports have another number of results than they state")
    site.manage("check_series")  # raises where a series keeps something else than its results come to


EVERY_S = 1.0
MIB = 1 << 20


class MemoryWatch(threading.Thread):
    """`seen`: by role, the resident memory of its largest process at each look, in MiB. Shared pages count in each."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(daemon=True)
        self.deployment = deployment
        self.seen: dict[str, list[float]] = defaultdict(list)
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            for role, processes in self.deployment.processes().items():
                sizes = [size for process in processes if (size := _resident(process))]
                if sizes:
                    self.seen[role].append(max(sizes) / MIB)

    def end(self) -> None:
        self._over.set()
        self.join()

    def add_to(self, outcome: Outcome) -> None:
        """Rows of min / median / max, and the medians of the first and the last tenth, between which a leak would show."""
        for role, sizes in sorted(self.seen.items()):
            tenth = max(1, len(sizes) // 10)
            first, last = statistics.median(sizes[:tenth]), statistics.median(sizes[-tenth:])
            outcome.add(
                f"memory of {role}, MiB",
                f"{min(sizes):.0f} / {statistics.median(sizes):.0f} / {max(sizes):.0f}, from {first:.0f} to {last:.0f}",
            )


def _resident(process: psutil.Process) -> int:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return int(process.memory_info().rss)
    return 0  # killed meanwhile


AWAY_S = 1.0  # at most, until who was killed is started again


@dataclass(frozen=True)
class Victim:
    """`kill` picks what it kills with the generator; `restart` does not wait until it works."""

    kill: Callable[[Deployment, random.Random], None]
    restart: Callable[[Deployment], None] = lambda _deployment: None


def _group(name: str) -> Callable[[Deployment, random.Random], None]:
    return lambda deployment, _rng: deployment.site.kill(name)


def _child(role: str) -> Callable[[Deployment, random.Random], None]:
    def kill(deployment: Deployment, rng: random.Random) -> None:
        if children := deployment.processes().get(role):  # none while it starts
            with suppress(psutil.NoSuchProcess):
                rng.choice(children).kill()

    return kill


VICTIMS = {
    "web": Victim(_group("web"), lambda deployment: deployment.site.start_web(wait=False)),
    "a process of web": Victim(_child("web child")),
    "worker": Victim(_group("worker"), lambda deployment: deployment.site.start_worker(wait=False)),
    "a process of worker": Victim(_child("worker child")),
    "beat": Victim(_group("beat"), lambda deployment: deployment.site.start_beat()),
    "Redis": Victim(lambda deployment, _rng: deployment.redis.kill(), lambda deployment: deployment.redis.start()),
    "PostgreSQL": Victim(lambda deployment, _rng: deployment.postgres.kill(), lambda deployment: deployment.postgres.start()),
    "a process of PostgreSQL": Victim(_child("postgres")),
}  # fmt: skip


def kill_again_and_again(deployment: Deployment, kills: int, seconds: float, rng: random.Random) -> Counter[str]:
    """So many kills over so many seconds, or longer where starting again takes longer -> how often each."""
    killed: Counter[str] = Counter()
    started = time.monotonic()
    for number in range(kills):
        time.sleep(max(0.0, started + (number + rng.random()) * seconds / kills - time.monotonic()))
        name = rng.choice(list(VICTIMS))
        VICTIMS[name].kill(deployment, rng)
        time.sleep(rng.uniform(0.0, AWAY_S))
        VICTIMS[name].restart(deployment)
        killed[name] += 1
    return killed


def run(reports: int, kills: int, seconds: float, seed: int) -> Outcome:
    outcome = Outcome(f"{reports:,} reports under {kills} kills")
    with deployed() as deployment:
        site = deployment.site
        deployment.start_all()
        memory = MemoryWatch(deployment)
        memory.start()
        started = time.monotonic()
        senders = start_senders(site, deployment.key, reports, seconds)
        killed = kill_again_and_again(deployment, kills, seconds, random.Random(seed))
        killing_s = time.monotonic() - started
        join(senders)
        sending_s = time.monotonic() - started
        drained_s = seconds_to_drain(site)
        memory.end()
        outcome.add("kill -9", ", ".join(f"{name} x {count}" for name, count in killed.most_common()))
        outcome.add("seconds", f"kills {killing_s:.0f}, sending {sending_s:.0f}")
        add_delivery(outcome, site, senders, reports)
        waits = site.rows(
            "SELECT EXTRACT(EPOCH FROM read_at - received_at)::float FROM labs_report WHERE status = 'read'"
        )
        outcome.add("from 202 to read", spread([wait for (wait,) in waits]))
        outcome.add("drained after the last report and kill", f"{drained_s:.0f} s")
        memory.add_to(outcome)
    return outcome
