"""`python -m tests.api`: the API is asked some 5,000 cases, on a site of its own. Options are those of schemathesis."""

import sys
import tempfile
from pathlib import Path

from tests.api.ask import ask, running_site

USUAL = ("--max-examples", "20")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder, running_site(Path(folder)) as (site, keys):
        done = ask(site, keys, *(sys.argv[1:] or USUAL))
    print(done.stdout, done.stderr, sep="\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
