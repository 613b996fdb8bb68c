"""The HTTP API of freshness: when each table was last checked against what."""

from datetime import date

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema

from stackviz.desk.freshness.rounds import is_behind_its_sources
from stackviz.records.stacks.table_checks import checked_tables
from stackviz.web.http.errors import ErrorBody, refuse_others

router = Router()


class CheckedTableOut(Schema):
    """One table. `valid_until`: the last day on which that check is good enough; then `is_stale`.

    A table that lacks what its sources have published since is stale before that day, too.
    """

    table: str
    title: str
    checked_on: date
    valid_until: date
    against: str
    is_stale: bool


class FreshnessOut(Schema):
    count: int
    items: list[CheckedTableOut]


@router.get(
    "/freshness/",
    operation_id="stackviz_watch_api_list_table_checks",
    response={200: FreshnessOut, 422: ErrorBody, 429: ErrorBody},
    summary="When each table was last checked, and against what",
)
def list_table_checks(request: HttpRequest) -> FreshnessOut:
    refuse_others(request, frozenset())
    today = timezone.now().date()
    items = [
        CheckedTableOut(
            table=row.table,
            title=row.title,
            checked_on=row.checked_on,
            valid_until=row.valid_until,
            against=row.against,
            is_stale=row.is_stale(today) or is_behind_its_sources(row.table, today),
        )
        for row in checked_tables().values()
    ]
    return FreshnessOut(count=len(items), items=items)
