"""Reports come in while every process is killed at random, whole or one child of it."""

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import psutil

from tests.trials.delivery import add_delivery, join, seconds_to_drain, start_senders
from tests.trials.deployment import Deployment, deployed
from tests.trials.memory import MemoryWatch
from tests.trials.outcome import Outcome, spread

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
