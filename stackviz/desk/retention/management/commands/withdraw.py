"""`manage.py withdraw lab north`: for those who ask the site's people, and for what is too large for a page."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from stackviz.desk.accounts.withdraw import withdraw_person
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.records.labs.readonly_admin import cascade_counts
from stackviz.records.labs.withdraw import withdraw_lab, withdraw_machine


class Command(BaseCommand):
    help = "Delete a report, a machine, a lab or a person with all that goes with it (docs/retention.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=("report", "machine", "lab", "person"))
        parser.add_argument("name", help="the report's id, LAB/MACHINE, the lab's slug, the user name")
        parser.add_argument("--dry-run", action="store_true", help="only count what would go")

    def handle(self, *_arguments: object, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        kind, name = options["kind"], options["name"]
        row = _find(kind, name)
        if row is None:
            raise CommandError(f"there is no {kind} {name!r}")
        if options["dry_run"]:
            counts = cascade_counts(type(row), [row.pk])
            self.stdout.write("\n".join(f"{count} {table} would go" for table, count in counts.items() if count != "0"))
            return
        try:
            gone = _WITHDRAW[kind](row)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        self.stdout.write("\n".join(f"{count:,} {table} deleted" for table, count in gone.items() if count))


def _find(kind: str, name: str) -> Report | Machine | Lab | User | None:
    if kind == "report":
        try:
            return Report.objects.defer("body").filter(pk=UUID(name)).first()
        except ValueError:
            return None
    if kind == "machine":
        lab, _slash, slug = name.partition("/")
        return Machine.objects.filter(lab__slug=lab, slug=slug).first()
    return Lab.objects.filter(slug=name).first() if kind == "lab" else User.objects.filter(username=name).first()


def _forget(report: Report) -> dict[str, int]:
    return {"labs.Report": forget_reports(Report.objects.filter(pk=report.pk))}


_WITHDRAW: dict[str, Callable[[Any], dict[str, int]]] = {
    "report": _forget,
    "machine": withdraw_machine,
    "lab": withdraw_lab,
    "person": withdraw_person,
}
