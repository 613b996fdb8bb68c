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
    """Mark these reports as waiting, as if they had just come -> their ids, without those that are gone."""
    chosen = Report.objects.filter(pk__in=list(report_ids))
    chosen.update(status=Report.Status.RECEIVED, rung_at=timezone.now(), tries=0, error="")
    return list(chosen.values_list("pk", flat=True))
