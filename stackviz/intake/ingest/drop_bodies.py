"""Drops the bodies of old reports, where RAW_REPORT_DAYS says so; what was read from them stays.

Of a body its digest is left, so that the same report sent again is recognised and another one under its id refused.
Reports that wait, or could not be read, are left alone: their body is all there is of them.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from stackviz.intake.ingest.body import content_digest
from stackviz.records.labs.models import Report

BODIES_TOGETHER = 50  # held in memory at once, each of 4 MiB at most, and dropped in one transaction


def drop_old_bodies() -> int:
    """Drop the bodies of reports that arrived over RAW_REPORT_DAYS ago -> how many. Safe to run at any time."""
    if not settings.RAW_REPORT_DAYS:
        return 0
    before = timezone.now() - timedelta(days=settings.RAW_REPORT_DAYS)
    dropped = 0
    since: tuple[datetime, UUID] | None = None
    while old := _old_reports(since, before):
        dropped += _drop(old)
        since = old[-1].received_at, old[-1].pk
    return dropped


def old_bodies(before: datetime) -> QuerySet[Report]:
    """The reports that arrived before this moment and whose bodies may go."""
    return Report.objects.filter(status=Report.Status.READ, content_digest__isnull=True, received_at__lt=before)


def _old_reports(since: tuple[datetime, UUID] | None, before: datetime) -> list[Report]:
    """The next reports with a body, in the order of their arrival: one pass over the index for a whole run."""
    due = old_bodies(before)
    if since is not None:
        due = due.filter(received_at__gte=since[0]).exclude(received_at=since[0], pk__lte=since[1])
    return list(due.only("body", "encoding", "received_at").order_by("received_at", "pk")[:BODIES_TOGETHER])


@transaction.atomic
def _drop(reports: list[Report]) -> int:
    """A report that is to be read again since we looked keeps its body."""
    return sum(
        Report.objects.filter(pk=report.pk, status=Report.Status.READ, content_digest__isnull=True).update(
            body=b"", content_digest=content_digest(bytes(report.body), report.encoding)
        )
        for report in sorted(reports, key=lambda report: report.pk)
    )
