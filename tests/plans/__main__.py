"""`python -m tests.plans`: what the planner and the diagnosis answer, for whoever prepares a release.

`--drivers` prints which branches of the NVIDIA driver run which torch on which card, each cell asked of both. Ends with
1 where they disagree.
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
    parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from tests.plans import matrix

    return matrix.print_all()


if __name__ == "__main__":
    sys.exit(main())
