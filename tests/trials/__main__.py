"""`python -m tests.trials --reports 10000 --kills 100`: the whole site under kills. docs/reliability.md has figures.

Prints a table, ends with 1 where the site does not do what it promises.
"""

import argparse
import os
import sys

import django


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = vars(parser.parse_args())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from tests.trials.kills import run

    outcome = run(**chosen)
    print(outcome.table(), flush=True)
    return bool(outcome.wrong)


if __name__ == "__main__":
    sys.exit(main())
