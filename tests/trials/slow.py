"""An innocent page, asked for five times a second through the front, beside slow clients and idle ones."""

import time

from tests.deploy.slow_clients import idle_connections, slow_clients
from tests.deploy.test_behind_front import IDLE, SLOW_OF_EACH_KIND
from tests.trials.fronted import fronted_site, innocent, note
from tests.trials.outcome import Outcome


def run(seconds: float) -> Outcome:
    outcome = Outcome(f"a spec sheet through the front, {seconds:.0f} s each")
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
    return outcome
