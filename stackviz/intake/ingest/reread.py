"""Queue stored reports to be read again, after the interpreter has improved or a bug was fixed."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from stackviz.intake.ingest import tasks
from stackviz.records.labs.models import Report


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
    afresh = {"queued_at": timezone.now(), "tries": 0, "faults": 0, "fault": "", "retry_at": None, "error": ""}
    chosen.update(status=Report.Status.RECEIVED, **afresh)
    return list(chosen.values_list("pk", flat=True))


def without_body(report_ids: Iterable[UUID]) -> list[UUID]:
    """Those of these reports that cannot be read again, because their body is no longer stored."""
    chosen = Report.objects.filter(pk__in=list(report_ids), content_digest__isnull=False)
    return list(chosen.values_list("pk", flat=True))


# --- all that failed for one reason ---

_NUMBER = re.compile(r"\d+")


def kind_of(error: str) -> str:
    """What an error has in common with others of its kind: `results[3].samples: is missing` without the number."""
    return _NUMBER.sub("#", error)


def failed_counts(kinds: Collection[str] | None = None) -> dict[str, int]:
    """Kind of error -> how many failed reports have it, most first; None: of all kinds."""
    counted: Counter[str] = Counter()
    for error, count in _failed().order_by().values_list("error").annotate(Count("pk")).iterator():
        if kinds is None or kind_of(error) in kinds:
            counted[kind_of(error)] += count
    return dict(counted.most_common())


def failed_of_kinds(kinds: Collection[str]) -> list[UUID]:
    """The failed reports whose error is of one of these kinds, the oldest first."""
    rows = _failed().order_by("received_at", "pk").values_list("pk", "error").iterator()
    return [pk for pk, error in rows if kind_of(error) in kinds]


def _failed() -> QuerySet[Report]:
    """Failed reports that can be read again."""
    return Report.objects.filter(status=Report.Status.FAILED, content_digest__isnull=True)
