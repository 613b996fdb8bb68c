"""Which series are read for a ranking: a bounded number, of which no machine takes more than its share."""

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from stackviz.records.series.models import Series

MOST_SERIES = 1000  # in a ranking; those of the machines that reported last
RECENT_FIRST = F("latest_at").desc(nulls_last=True), F("pk").desc()
SERIES_OF_A_MACHINE = 100  # anyone may send new parameters: a sweep over thousands of sizes must not crowd others out


def ranked_series(
    series: QuerySet[Series], most: int = MOST_SERIES, of_machine: int = SERIES_OF_A_MACHINE
) -> QuerySet[Series, int]:
    """Keys of at most `most` of these series, those of the machines that reported last first.

    Of each machine at most `of_machine`, the most recently measured ones. One query, when it is read.
    """
    turn = Window(RowNumber(), partition_by="machine", order_by=RECENT_FIRST)
    fair = series.annotate(turn=turn).filter(turn__lte=of_machine)
    return fair.order_by("-machine__latest_taken_at", "-pk").values_list("pk", flat=True)[:most]
