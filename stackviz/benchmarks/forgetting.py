"""When reports are deleted, the series that lose results are brought up to date."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any
from uuid import UUID

from stackviz.benchmarks.models import Result
from stackviz.benchmarks.rollup import refresh


def note_series(report_ids: Collection[UUID], **_signal: Any) -> Callable[[], None]:  # noqa: ANN401
    """Note which series have results in these reports -> what to call once those are deleted."""
    results = Result.objects.filter(report__in=report_ids).values_list("series_id", flat=True)
    lost = Counter(results.iterator())
    return lambda: refresh((), {key: -count for key, count in lost.items()})
