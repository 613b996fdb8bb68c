"""`manage.py restore FILE`. The work is in `stackviz.site.backups.backup`."""

import sqlite3
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from stackviz.site.backups.backup import BackupError, check_backup, restore_backup
from stackviz.site.up.var_folder import AlreadyRunning


class Command(BaseCommand):
    help = "Make the database what it was when FILE was written by `manage.py backup`. Stop web, worker and beat first."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="also where users, labs or reports are stored")
        parser.add_argument("--check", action="store_true", help="only verify the file")

    def handle(self, *_args: object, file: Path, replace: bool, check: bool, **_options: object) -> None:
        try:
            if check:
                self.stdout.write(f"{file} is complete: {check_backup(file)}")
            else:
                restore_backup(file, replace=replace)
                self.stdout.write(f"{file} restored")
        except (BackupError, AlreadyRunning, DatabaseError, OSError, sqlite3.Error) as problem:
            raise CommandError(str(problem)) from problem
