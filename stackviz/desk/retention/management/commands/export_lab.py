"""`manage.py export_lab north north.zip`: all that a lab has here, as its owners get it."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from stackviz.desk.retention.export import export_lab
from stackviz.records.audit.record import record
from stackviz.records.labs.models import Lab


class Command(BaseCommand):
    help = "Write all that a lab has here into one archive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("lab", help="the lab's slug")
        parser.add_argument("file", type=Path, help="a new file; only its owner may read it")

    def handle(self, *_arguments: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        lab = Lab.objects.filter(slug=options["lab"]).first()
        if lab is None:
            raise CommandError(f"there is no lab {options['lab']!r}")
        file: Path = options["file"]
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(f"{file} cannot be made: {error.strerror}") from None
        record("lab.exported", f"lab {lab.pk}")
        with os.fdopen(descriptor, "wb") as out:
            for piece in export_lab(lab):
                out.write(piece)
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes")
