"""The time of day jumps by an hour and back while reports come in, or passes while beat and the readers are away.

All programs of the site see the jump (`clock/sitecustomize.py`). PostgreSQL and Redis keep their own time.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live import ROOT
from tests.trials.delivery import add_delivery, join, seconds_to_drain, start_senders
from tests.trials.deployment import Deployment, deployed
from tests.trials.outcome import Outcome

HOUR_S = 3600
AHEAD_S = (HOUR_S, 0, -HOUR_S, 0, 24 * HOUR_S, 0)  # where the clock stands after each jump
SEEN_AFTER_S = 0.5  # by every process
PATIENCE_S = 120.0
REQUEUE_EVERY_S = "5"  # a message of beat lives as long: one second is too little for a busy machine's worker


class Clock:
    """The time of day of the programs that have `variables` in their environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ahead"
        self.variables = {
            "PYTHONPATH": f"{Path(__file__).parent / 'clock'}:{ROOT}", "CLOCK_AHEAD_FILE": str(self._file),
        }  # fmt: skip

    def set_ahead(self, ahead_s: float) -> None:
        self._file.write_text(str(ahead_s))
        time.sleep(SEEN_AFTER_S)


@contextmanager
def deployed_with_clock() -> Iterator[tuple[Deployment, Clock]]:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(Path(folder))
        with deployed(REQUEUE_EVERY_S=REQUEUE_EVERY_S, **clock.variables) as deployment:
            yield deployment, clock


def lose_messages(deployment: Deployment) -> None:
    """What the broker held is gone: whatever waits now is read only because beat has it queued again."""
    deployment.redis.kill()
    deployment.redis.start()


def run(reports: int) -> Outcome:
    """A share of the reports comes in before each jump, is queued, and loses its message."""
    outcome = Outcome(f"the clock of web, worker and beat jumps {len(AHEAD_S)} times, {reports:,} reports")
    share = reports // len(AHEAD_S)
    with deployed_with_clock() as (deployment, clock):
        deployment.start_all()
        senders = []
        for ahead_s in AHEAD_S:
            deployment.site.kill("worker")
            sending = start_senders(deployment.site, deployment.key, share)
            join(sending)
            senders += sending
            lose_messages(deployment)
            clock.set_ahead(ahead_s)
            deployment.site.start_worker(wait=False)
            drained_s = seconds_to_drain(deployment.site, PATIENCE_S)
            outcome.add(f"clock {ahead_s / HOUR_S:+.0f} h: all read after", f"{drained_s:.1f} s")
            outcome.expect(drained_s < PATIENCE_S, f"reports wait for more than {PATIENCE_S:.0f} s")
        add_delivery(outcome, deployment.site, senders, share * len(AHEAD_S))
    return outcome


def run_without_beat(reports: int) -> Outcome:
    outcome = Outcome(f"beat and the worker away for an hour, {reports:,} reports")
    with deployed_with_clock() as (deployment, clock):
        deployment.start_all()
        deployment.site.kill("worker")
        deployment.site.kill("beat")
        senders = start_senders(deployment.site, deployment.key, reports)
        join(senders)
        lose_messages(deployment)
        clock.set_ahead(HOUR_S)
        deployment.site.start_worker(wait=False)
        deployment.site.start_beat()
        outcome.add("all read after", f"{seconds_to_drain(deployment.site):.0f} s, start included")
        add_delivery(outcome, deployment.site, senders, reports)
    return outcome
