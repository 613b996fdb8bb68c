"""`manage.py write_dump`: writes the public data for download, here and now."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from stackviz.pages.data.dump import AlreadyWriting, is_due, write_dump


class Command(BaseCommand):
    help = "Export all public data as JSON Lines, CSV and Parquet to DATA_DIR, served at /data/."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--if-due", action="store_true", help="only if no dump was written since last night")

    def handle(self, *_args: Any, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        if options["if_due"] and not is_due():
            self.stdout.write("the newest dump is up to date")
            return
        try:
            dump = write_dump()
        except AlreadyWriting as why:
            raise CommandError(str(why)) from why
        except OSError as why:
            raise CommandError(
                f"cannot write the dump: {why}. DATA_DIR must be a folder this program may write."
            ) from why
        rows = sum(table.rows for table in dump.tables)
        size = sum(file.bytes for file in dump.files)
        self.stdout.write(f"{dump.folder}: {len(dump.tables)} tables, {rows:,} rows, {size / 1e6:.1f} MB")
