"""`manage.py up_steps`, which `manage.py up` runs. The work is in `stackviz.site.up.steps`."""

import os
import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from stackviz.site.up.steps import run_steps
from stackviz.site.up.var_folder import CannotStart


class Command(BaseCommand):
    help = "The steps of `up`, in a process of their own: prepare the site, then add this machine to it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tell", type=int, required=True, help="the file descriptor that is told how far it is")
        parser.add_argument("--no-agent", action="store_true", help="do not add this machine to the site")
        parser.add_argument("--lab", action="store_true", help="install PyTorch once the site answers")

    def handle(self, *_args: object, tell: int, no_agent: bool, lab: bool, **_options: object) -> None:
        with os.fdopen(tell, "w", buffering=1) as supervisor:
            try:
                run_steps(
                    sys.stdout,
                    lambda message: print(message, file=supervisor),
                    lambda: sys.stdin.readline().strip(),
                    with_agent=not no_agent,
                    with_lab=lab,
                )
            except CannotStart as problem:
                raise CommandError(str(problem)) from problem
