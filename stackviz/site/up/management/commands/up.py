"""`manage.py up`, which is what `make run` runs. The work is in `stackviz.site.up`."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from stackviz.site.up import var_folder
from stackviz.site.up.start import up
from stackviz.site.up.var_folder import AlreadyRunning, CannotStart, StepsFailed

FAILED, ALREADY_RUNNING = 1, 3


class Command(BaseCommand):
    help = (
        "Start the whole site on this machine and add this machine to it. "
        "Exit status: 0 stopped, 1 could not start, 3 already running."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-agent", action="store_true", help="do not add this machine to the site")
        parser.add_argument(
            "--lab", action="store_true", help="install PyTorch beside the site, to measure this machine"
        )
        parser.add_argument("--check-stopped", action="store_true", help="only check whether a site is running")

    def handle(self, *_args: object, **options: object) -> None:
        try:
            if options["check_stopped"]:
                check_stopped(Path(settings.VAR_DIR))
            else:
                up(
                    sys.stdout,
                    options=tuple(f"--{name}" for name in ("no-agent", "lab") if options[name.replace("-", "_")]),
                )
        except StepsFailed:
            sys.exit(FAILED)
        except AlreadyRunning as problem:
            raise CommandError(str(problem), returncode=ALREADY_RUNNING) from problem
        except CannotStart as problem:
            raise CommandError(str(problem), returncode=FAILED) from problem


def check_stopped(var: Path) -> None:
    if var.exists():
        with var_folder.held(var / "up.lock"):
            pass
