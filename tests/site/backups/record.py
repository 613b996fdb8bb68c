"""Fills the site of the environment (VAR_DIR, DATABASE_URL) with what a release's own code makes of a few reports.

For a new release, with an empty VAR_DIR and again with an empty DATABASE_URL of PostgreSQL:

    python manage.py migrate && python -m tests.site.backups.record
    python manage.py backup tests/fixtures/releases/NAME.sqlite.backup        # or NAME.postgresql.backup

Uses only what every release so far had, so that the same file fills a site of an earlier one.
"""

import json
import os
from datetime import UTC, datetime

import django

ACCELERATORS = ("nvidia-h100-sxm5-80gb", "apple-m1-8")  # kept of the catalogue, which every release loads itself
REPORTS_OF_EACH = 3
ROWS_OF_HISTORY = 20  # kept of each table


def fill() -> None:
    """Two labs, one private with a member; two machines each, reports that were read, one that waits, one that failed."""
    from django.contrib.auth.models import User

    from stackviz.records.labs.models import Lab, Membership

    keep_few_accelerators()
    ada = User.objects.create_user("ada", password="of no use")
    for slug, is_public in (("north", True), ("hidden", False)):
        lab = Lab.objects.create(slug=slug, name=slug.title(), is_public=is_public)
        Membership.objects.create(lab=lab, user=ada, role="owner")
        send_reports(lab)


def keep_few_accelerators() -> None:
    from django.core.management import call_command
    from django.db import connection

    from stackviz.records.catalog.models import Accelerator, Alias, Source, SpecValue

    call_command("load_catalogue", verbosity=0)
    Accelerator.objects.exclude(slug__in=ACCELERATORS).delete()
    for model in (Accelerator, SpecValue, Alias):
        model.history.exclude(pk__in=model.history.order_by("pk")[:ROWS_OF_HISTORY]).delete()
    Source.objects.filter(spec_values__isnull=True, aliases__isnull=True, prices__isnull=True).delete()
    if connection.vendor == "sqlite":
        connection.cursor().execute("VACUUM")


def send_reports(lab) -> None:
    from django.test import Client

    from stackviz.records.labs.keys import create_key
    from tests.report.format.reports import report_body, sha256

    _row, key = create_key(lab=lab, name="recorded")
    for number in range(2 * REPORTS_OF_EACH):
        name = f"{lab.slug}-{number % 2}"
        body = report_body(
            machine={"identity": sha256(name), "name": name},
            created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        answer = Client().post(
            "/api/v1/reports/",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.status_code == 202, answer.content
        if number:  # the first one still waits
            interpret(body["id"])


def interpret(report_id: str) -> None:
    from stackviz.intake.ingest import interpret as reading

    reading.interpret(report_id)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    fill()
