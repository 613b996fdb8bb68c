"""Change many cited results at once for one reason, each with its history: a few queries for each batch of rows."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from stackviz.records.cited.baseline import write_baselines
from stackviz.records.cited.models import CitedEdition, CitedResult

BATCH = 500


def create_results(rows: Sequence[CitedResult], *, by: User, reason: str) -> None:
    bulk_create_with_history(rows, CitedResult, batch_size=BATCH, default_user=by, default_change_reason=reason)


@transaction.atomic
def update_results(rows: Sequence[CitedResult], columns: Sequence[str], *, by: User | None, reason: str) -> None:
    write_baselines(CitedResult, [row.pk for row in rows])
    now = timezone.now()
    for row in rows:
        row.changed_at = now
    bulk_update_with_history(
        rows, CitedResult, [*columns, "changed_at"], batch_size=BATCH, default_user=by, default_change_reason=reason
    )


@transaction.atomic
def delete_results(rows: Sequence[CitedResult], *, by: User, reason: str) -> None:
    """What each was stands in the history, as a deletion by this person."""
    pks = [row.pk for row in rows]
    write_baselines(CitedResult, pks)
    history = CitedResult.history.model
    now = timezone.now()
    records = [
        history(
            history_date=now,
            history_user=by,
            history_change_reason=reason,
            history_type="-",
            **{field.attname: getattr(row, field.attname) for field in history.tracked_fields},
        )
        for row in rows
    ]
    history.objects.bulk_create(records, batch_size=BATCH)
    for start in range(0, len(pks), BATCH):
        chunk = CitedResult.objects.filter(pk__in=pks[start : start + BATCH])
        chunk._raw_delete(chunk.db)  # noqa: SLF001 - nothing refers to a result; signals would write each record again
    CitedEdition.renew()
