"""`manage.py check_series [--fix]`: compares what series keep of their results with these, names what differs."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from stackviz.records.series.rollup import correct, stale_series


class Command(BaseCommand):
    help = "Compare the newest result, baseline and count of each series with its results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--fix", action="store_true", help="correct what differs")

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        count = 0
        for wrong in stale_series():
            count += len(wrong)
            for each in wrong:
                self.stdout.write(f"series {each.series}: stored {each.stored}, results come to {each.expected}")
            if options["fix"]:
                correct(wrong)
        if count and not options["fix"]:
            raise CommandError(f"{count} series differ; --fix corrects them")
        self.stdout.write(f"{count} series corrected" if count else "every series is what its results come to")
