"""`manage.py headline_share`: how many headline fields of all accelerators are filled, of those that can be."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from stackviz.records.catalog.headline import headline_share


class Command(BaseCommand):
    help = "Print how many headline fields of all accelerators are filled, of those that they can have."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--missing", action="store_true", help="list the accelerators that lack each field")

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        share = headline_share()
        self.stdout.write("\n".join(share.lines()))
        if options["missing"]:
            self.stdout.write("\n".join(share.missing_lines()))
