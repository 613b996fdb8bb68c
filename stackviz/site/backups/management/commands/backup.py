"""`manage.py backup FILE`. The work is in `stackviz.site.backups.backup`."""

import sqlite3
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from stackviz.site.backups.backup import BackupError, take_backup


class Command(BaseCommand):
    help = "Write the whole database to FILE, as it is at one moment; the site may go on. SECRET_KEY is not in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file; only its owner may read it")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        file: Path = options["file"]
        try:
            take_backup(file)
        except (BackupError, DatabaseError, OSError, sqlite3.Error) as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{file}: {connection.vendor}, {file.stat().st_size / 1e6:.1f} MB")
        self.stdout.write("Store SECRET_KEY elsewhere: without it receipts' links and logins do not survive a restore.")
