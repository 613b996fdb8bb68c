"""Runs inside the checkout that is recorded: `python child.py seed|upgrade|record|walk|serve …` with that checkout as the directory.

This package stands in front of whatever that checkout has under its name: one tool records both sides.
"""

import logging
import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def compile_translations(checkout: Path) -> None:
    """A checkout whose .mo is not tracked may lack it, or have an old one; earlier ones have it tracked."""
    if (checkout / "tools" / "translations.py").exists():
        from tools import translations

        translations.compile_changed(checkout)


def main(command: str, *arguments: str) -> None:
    sys.path[0] = str(Path.cwd())
    import tests

    tests.__path__.insert(0, str(TESTS))
    from tests.golden import pinned

    pinned.pin()
    compile_translations(Path.cwd())
    import django

    django.setup()
    logging.disable()  # a refused request is what is visited
    site = Path(os.environ["VAR_DIR"])
    if command == "seed":
        from tests.golden.seed import seed

        seed(site)
    elif command == "upgrade":
        from django.core.management import call_command

        from tests.golden.seed import LOADERS, available

        pinned.set_clock(pinned.NOW)
        for name in available(LOADERS):
            call_command(name, verbosity=0)
    elif command == "record":
        from django.test.utils import setup_test_environment

        from tests.golden.recording import record

        setup_test_environment(debug=False)
        folder, samples = arguments
        record(Path(folder), site, Path(samples) if samples else None)
    elif command == "walk":
        from django.test.utils import setup_test_environment

        from tests.golden.walks import follow

        setup_test_environment(debug=False)
        follow(arguments[0], with_files="files" in arguments)
    elif command == "serve":
        from django.core.servers.basehttp import run
        from django.core.wsgi import get_wsgi_application

        pinned.set_clock(pinned.NOW)
        run("127.0.0.1", int(arguments[0]), get_wsgi_application(), threading=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
