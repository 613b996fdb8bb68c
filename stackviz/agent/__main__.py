"""`python -m stackviz.agent`."""

import sys

from stackviz.agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
