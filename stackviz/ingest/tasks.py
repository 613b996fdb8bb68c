"""Background work of the inbox. A task takes ids, makes one call, returns a short text; the database is the truth."""

from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, Q
from django.utils import timezone

from stackviz.ingest.interpret import interpret
from stackviz.labs.models import Report

RING_AGAIN_AT_ONCE = 1_000  # reports a turn of the periodic task rings for, the longest waiting first


@shared_task(
    autoretry_for=(OperationalError, InterfaceError),  # a database that is away may come back; a bad report never does
    retry_backoff=True,
    retry_backoff_max=60,
    max_retries=5,
    acks_late=True,  # with the next line: a message outlives the worker that dies over it
    reject_on_worker_lost=True,
)
def read_report(*report_ids: str) -> str:
    """Read these reports, each in a transaction of its own. Ringing twice, or for one that is read, does nothing."""
    return " ".join(interpret(report_id) for report_id in report_ids)


@shared_task(ignore_result=True)
def requeue_waiting_reports() -> str:
    """Ring again for reports that nobody read: their message died with a broker, or a worker, or was never sent.

    One message for each: should one of them kill its reader, it takes no other with it.
    """
    now = timezone.now()
    due = now - timedelta(seconds=settings.RING_AGAIN_AFTER_S)
    waiting = Report.objects.filter(Q(rung_at__isnull=True) | Q(rung_at__lte=due), status=Report.Status.RECEIVED)
    longest_waiting = F("rung_at").asc(nulls_first=True)  # never rung for at all; databases differ in where NULLs go
    ids = list(waiting.order_by(longest_waiting).values_list("pk", flat=True)[:RING_AGAIN_AT_ONCE])
    # Marked first: a broker that fails halfway leaves the rest to a later turn, and nobody is rung for twice at once.
    Report.objects.filter(pk__in=ids, status=Report.Status.RECEIVED).update(rung_at=now)
    for report_id in ids:
        read_report.delay(str(report_id))
    return f"{len(ids)} rung"
