"""`manage.py restore FILE`. The work is in `stackviz.site.backups`."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from stackviz.site.backups.errors import BackupError
from stackviz.site.backups.restore import check_backup, restore_backup
from stackviz.site.up import lock
from stackviz.site.up.errors import AlreadyRunning


class Command(BaseCommand):
    help = "Make the database what it was when FILE was written by `manage.py backup`. Stop web, worker and beat first."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="also where users, labs or reports are stored")
        parser.add_argument("--check", action="store_true", help="only verify the file")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        file: Path = options["file"]
        try:
            if options["check"]:
                manifest, done = check_backup(file), "is complete"
            else:
                with nobody_else():
                    manifest, done = restore_backup(file, replace=options["replace"]), "restored"
        except (BackupError, AlreadyRunning, DatabaseError, OSError) as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(
            f"{file} {done}: {manifest.database}, taken at {manifest.taken_at} by {manifest.site_version}"
        )


@contextmanager
def nobody_else() -> Iterator[None]:
    """No `make run` uses the database meanwhile. Raises AlreadyRunning. On PostgreSQL nobody can know who else does."""
    if connection.vendor != "sqlite":
        yield
        return
    var = Path(settings.VAR_DIR)
    var.mkdir(parents=True, exist_ok=True)
    with lock.held(var / "up.lock"):
        yield
