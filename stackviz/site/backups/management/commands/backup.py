"""`manage.py backup FILE`. The work is in `stackviz.site.backups`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from stackviz.site.backups.errors import BackupError
from stackviz.site.backups.take import take_backup


class Command(BaseCommand):
    help = "Write the whole database to FILE, as it is at one moment; the site may go on. SECRET_KEY is not in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file; only its owner may read it")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        file: Path = options["file"]
        try:
            manifest = take_backup(file)
        except (BackupError, DatabaseError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        size = file.stat().st_size
        self.stdout.write(f"{file}: {manifest.database}, {len(manifest.parts)} parts, {size / 1e6:.1f} MB")
        self.stdout.write("Store SECRET_KEY elsewhere: without it receipts' links and logins do not survive a restore.")
