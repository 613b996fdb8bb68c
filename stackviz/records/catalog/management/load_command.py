"""What the commands that load curated files share."""

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from stackviz.records.curated.change import LoadSummary
from stackviz.records.curated.rows import CuratedDataError


class LoadCommand(BaseCommand):
    """Quick when nothing changed, and nothing is loaded from files that are wrong. `load`: what a room loads with."""

    load: Callable[..., LoadSummary]

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="compare every line even if this version is loaded")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401, ARG002 - as Django's
        try:
            summary = self.load(force=options["force"])
        except CuratedDataError as error:
            raise CommandError(f"the curated files are wrong, nothing was loaded:\n{error}") from error
        self.stdout.write(str(summary))
