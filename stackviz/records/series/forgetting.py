"""When reports are deleted, the series that lose results are brought up to date."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any
from uuid import UUID

from stackviz.records.series.models import Result, Series
from stackviz.records.series.rollup import refresh


def note_series(report_ids: Collection[UUID], **_signal: Any) -> Callable[[], None]:  # noqa: ANN401
    """Note and lock the series with results in these reports -> what to call once those are deleted."""
    results = Result.objects.filter(report__in=report_ids).values_list("series_id", flat=True)
    lost = Counter(results.iterator())
    list(Series.objects.filter(pk__in=lost).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    return lambda: refresh((), {key: -count for key, count in lost.items()})
