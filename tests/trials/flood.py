"""An innocent page, asked for five times a second through the front, beside floods of requests."""

import time
from collections.abc import Sequence
from itertools import product

from tests.trials.floods import flood
from tests.trials.fronted import fronted_site, innocent, note
from tests.trials.outcome import Outcome

REST_S = 3.0


def run(seconds: float, clients: int, kinds: Sequence[str]) -> Outcome:
    outcome = Outcome(f"a spec sheet through the front, {seconds:.0f} s each; floods of {clients} clients")
    with fronted_site() as front:
        with innocent(front) as visitor:
            time.sleep(seconds)
        outcome.add("alone", visitor.summary())
        for kind, addresses in product(kinds, (1, clients)):
            with flood(kind, front.port, clients, addresses) as flooding, innocent(front) as visitor:
                time.sleep(seconds)
            note(outcome, f"a flood of {kind} from {addresses} addresses", visitor)
            outcome.add(f"{kind} answered", flooding.summary(seconds))
            time.sleep(REST_S)
    return outcome
