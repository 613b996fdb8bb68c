"""`manage.py result_partitions [--detach-before 2025-01]`: makes the coming months of results, takes old months out."""

from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from stackviz.records.series.partitions import detach_before, is_partitioned, make_coming_months, months


class Command(BaseCommand):
    help = "Make the partitions of coming months; on PostgreSQL only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--detach-before", type=_month, metavar="MONTH", help="take months before this one out, such as 2025-01"
        )

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        if not is_partitioned():
            raise CommandError("results are not partitioned: this database is not PostgreSQL")
        for month in make_coming_months(timezone.now().date()):
            self.stdout.write(f"made {month:%Y-%m}")
        if options["detach_before"]:
            for name in detach_before(options["detach_before"]):
                self.stdout.write(f"took out {name}: export it, then DROP TABLE {name}")
        self.stdout.write(f"months: {', '.join(f'{month:%Y-%m}' for month in months())}")


def _month(text: str) -> date:
    """Raises ValueError, which argparse turns into a message."""
    return date.fromisoformat(f"{text}-01")
