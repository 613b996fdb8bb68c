"""Delete results, alone when they are old or with their reports, and bring the series that lose them up to date."""

from collections import Counter
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from stackviz.records.labs.models import Report
from stackviz.records.series.models import Result, Series
from stackviz.records.series.rollup import refresh
from stackviz.web.turns import turn_to_write

ROWS_TOGETHER = 5_000  # deleted in one transaction


def note_series(report_ids: Collection[UUID], **_signal: Any) -> Callable[[], None]:  # noqa: ANN401
    """Note and lock the series with results in these reports -> what to call once those are deleted."""
    lost = _lock_series(Result.objects.filter(report__in=report_ids))
    return lambda: refresh((), {key: -count for key, count in lost.items()})


def results_before(moment: datetime) -> QuerySet[Result]:
    return Result.objects.filter(measured_at__lt=moment)


def delete_results_before(moment: datetime) -> int:
    """Delete results that were measured before this moment, in batches -> how many. Their reports stay."""
    deleted = 0
    while count := _delete_batch(moment):
        deleted += count
    return deleted


@turn_to_write(gives_way=True)
@transaction.atomic
def _delete_batch(moment: datetime) -> int:
    """Delete the oldest of them. Reports are locked first, so that none is read again meanwhile: see `note_series`."""
    keys = list(results_before(moment).order_by("pk").values_list("pk", flat=True)[:ROWS_TOGETHER])
    reports = Result.objects.filter(pk__in=keys).values("report")
    list(Report.objects.filter(pk__in=reports).order_by("pk").select_for_update().values_list("pk"))
    batch = Result.objects.filter(pk__in=keys)
    lost = _lock_series(batch)
    batch.delete()
    refresh((), {key: -count for key, count in lost.items()})
    return len(keys)


def _lock_series(results: QuerySet[Result]) -> Counter[int]:
    """Series -> how many of these results it has, each locked."""
    lost = Counter(results.values_list("series_id", flat=True).iterator())
    list(Series.objects.filter(pk__in=lost).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return lost
