"""`manage.py load_stacks`: bring the database to the curated files; quick when nothing changed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from stackviz.stacks.files import StackDataError
from stackviz.stacks.load import load_stacks


class Command(BaseCommand):
    help = "Load the curated stacks, components, counterparts, releases and requirements. Corrections are left alone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="compare every line even if this version is loaded")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401, ARG002 - as Django's
        try:
            summary = load_stacks(force=options["force"])
        except StackDataError as error:
            raise CommandError(f"the curated files are wrong, nothing was loaded:\n{error}") from error
        self.stdout.write(str(summary))
