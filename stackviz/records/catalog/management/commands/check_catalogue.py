"""`manage.py check_catalogue`: checks every public value; exit status 1 if one fails."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from stackviz.records.catalog.check import as_data, check_catalogue, check_lines, sibling_lines
from stackviz.records.curated.rows import CuratedDataError


class Command(BaseCommand):
    help = "Check sources, units, ranges, conditions, formulas and names of all public data in the catalogue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
        parser.add_argument(
            "--siblings",
            action="store_true",
            help="list sheets of one chip with the same memory but different bandwidths, and check nothing",
        )

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        if options["siblings"]:
            self.stdout.write("\n".join(sibling_lines()))
            return
        try:
            verdict = check_catalogue()
        except CuratedDataError as error:
            raise CommandError(f"the curated files have errors:\n{error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(as_data(verdict), ensure_ascii=False, indent=1))
        else:
            self.stdout.write("\n".join(check_lines(verdict)))
        if not verdict.is_clean:
            sys.exit(1)
