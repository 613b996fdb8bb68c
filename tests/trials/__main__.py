"""Trials of the whole site: PostgreSQL, Redis, gunicorn, worker and beat, of which each is killed, stopped or starved.

    python -m tests.trials kills --reports 10000 --kills 100

Prints a table, ends with 1 where the site does not do what it promises. docs/reliability.md has the last figures.
"""

import argparse
import os
import sys

import django

from tests.trials.floods import KINDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    trials = parser.add_subparsers(dest="trial", required=True)
    kills = trials.add_parser("kills", help="every process is killed at random while reports come")
    kills.add_argument("--reports", type=int, default=10_000)
    kills.add_argument("--kills", type=int, default=100)
    kills.add_argument("--seconds", type=float, default=200.0)
    kills.add_argument("--seed", type=int, default=1)
    full = trials.add_parser("full", help="disks are filled while reports come")
    full.add_argument("--reports", type=int, default=1_000)
    full.add_argument("--fills", type=int, default=4)
    hung = trials.add_parser("hung", help="PostgreSQL and Redis are stopped with SIGSTOP")
    hung.add_argument("--reports", type=int, default=500)
    hung.add_argument("--seconds", type=float, default=20.0)
    clock = trials.add_parser("clock", help="the time of day jumps, and the broker loses its messages")
    clock.add_argument("--reports", type=int, default=300)
    beat = trials.add_parser("beat", help="beat and the worker are away for an hour")
    beat.add_argument("--reports", type=int, default=1_500)
    slow = trials.add_parser("slow", help="an innocent page beside slow clients and idle connections")
    slow.add_argument("--seconds", type=float, default=20.0)
    flood = trials.add_parser("flood", help="an innocent page beside floods of requests")
    flood.add_argument("--seconds", type=float, default=20.0)
    flood.add_argument("--clients", type=int, default=20)
    flood.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    chosen = vars(parser.parse_args())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from tests.trials import clocks, flood as floods, full as disks, hung as hangs, kills as deaths, slow as waits  # noqa: I001

    runs = {
        "kills": deaths.run, "full": disks.run, "hung": hangs.run, "clock": clocks.run, "beat": clocks.run_without_beat,
        "slow": waits.run, "flood": floods.run,
    }  # fmt: skip
    outcome = runs[chosen.pop("trial")](**chosen)
    print(outcome.table(), flush=True)
    return bool(outcome.wrong)


if __name__ == "__main__":
    sys.exit(main())
