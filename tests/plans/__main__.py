"""`python -m tests.plans`: what the planner and the diagnosis answer, for whoever prepares a release.

`--drivers` prints which branches of the NVIDIA driver run which torch on which card, each cell asked of both. Ends with
1 where they disagree. `--pip` asks pip, over the network, whether it finds each release that a plan pins for each Python
and system.
"""

import argparse
import os
import sys

import django


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.plans", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--drivers", action="store_true", help="the matrix of capability, driver branch and torch release"
    )
    what.add_argument("--pip", action="store_true", help="every pin of every plan, as pip finds it")
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from tests.plans import matrix, pins

    return pins.print_missing() if chosen.pip else matrix.print_all()


if __name__ == "__main__":
    sys.exit(main())
