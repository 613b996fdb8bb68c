"""`manage.py headline_sources`: how many headline figures of the most requested accelerators have a vendor's source."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.catalog.headline import shares, sourced_cells


class Command(BaseCommand):
    help = "Print how many headline figures of the most requested accelerators have a vendor's source, and two."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--missing", action="store_true", help="list the figures that lack one or the other")

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        cells = sourced_cells(most_requested())
        self.stdout.write("\n".join(shares(cells).lines()))
        if options["missing"]:
            for cell in cells:
                lacking = [*["vendor"] * (not cell.makers), *["second source"] * (cell.documents < 2)]
                if lacking:
                    self.stdout.write(f"{cell.slug} {cell.field}: {', '.join(lacking)}")
