"""`manage.py delete_old`: what the nightly task deletes, now; `--dry-run` only counts it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from stackviz.desk.retention.old import Old, delete_old, look_for_old


class Command(BaseCommand):
    help = "Delete what is older than the settings allow: raw reports, links, dumps, logs, sessions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count what would be deleted")

    def handle(self, *_arguments: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        verb = "to delete" if options["dry_run"] else "deleted"
        for old in look_for_old() if options["dry_run"] else delete_old():
            self.stdout.write(f"{old.count:>9,} {verb}: {old.retained.name}, {_why(old)}")


def _why(old: Old) -> str:
    setting = old.retained.setting
    if old.before is None:
        return f"stored for ever ({setting}=0)"
    return f"from before {old.before:%Y-%m-%d %H:%M} ({setting})" if setting else "past their own end"
