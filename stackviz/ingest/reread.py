"""Queue stored reports to be read again, after the interpreter has improved or a bug was fixed."""

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from stackviz.ingest import tasks
from stackviz.labs.models import Report


@transaction.atomic
def read_again(report_ids: Iterable[UUID]) -> int:
    """Queue these reports again -> how many. What was read before stays until then."""
    ids = put_back(report_ids)
    for report_id in ids:
        transaction.on_commit(partial(tasks.enqueue, str(report_id)))
    return len(ids)


def put_back(report_ids: Iterable[UUID]) -> list[UUID]:
    """Mark these reports as waiting, as if they had just come -> their ids, without those that are gone.

    Also without those whose body is no longer stored: they stay as they were read (`without_body`).
    """
    chosen = Report.objects.filter(pk__in=list(report_ids), content_digest__isnull=True)
    chosen.update(status=Report.Status.RECEIVED, rung_at=timezone.now(), tries=0, error="")
    return list(chosen.values_list("pk", flat=True))


def without_body(report_ids: Iterable[UUID]) -> list[UUID]:
    """Those of these reports that cannot be read again, because their body is no longer stored."""
    chosen = Report.objects.filter(pk__in=list(report_ids), content_digest__isnull=False)
    return list(chosen.values_list("pk", flat=True))
