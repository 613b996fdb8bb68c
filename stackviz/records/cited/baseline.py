"""The first history record of a loaded row, written when the row is about to change for the first time.

A load of tens of thousands of rows would take twice as long with a record for each, and nearly all of them stay as they
were loaded: `loaded_digest`, `changed_at` and CitedLoad say the same.
"""

from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Model, QuerySet

from stackviz.records.curated.change import LOADED

_AT_ONCE = 500  # primary keys in one query: SQLite takes a thousand parameters everywhere


def write_baselines(model: type[Model], pks: Collection[int]) -> None:
    """Write what these rows are into the history, dated when they became so, where it has nothing of them yet."""
    history: Any = model.history.model  # type: ignore[attr-defined]
    for chunk in _chunks(sorted(pks)):
        known = set(history.objects.filter(id__in=chunk).values_list("id", flat=True))
        rows: QuerySet[Any] = QuerySet(model)
        rows = rows.filter(pk__in=[pk for pk in chunk if pk not in known], data_key__isnull=False)
        for row in rows:
            row._history_date = row.changed_at  # noqa: SLF001 - simple_history reads it
        model.history.bulk_history_create(list(rows), default_change_reason=LOADED)  # type: ignore[attr-defined]


def _chunks(pks: list[int]) -> Iterator[list[int]]:
    return (pks[start : start + _AT_ONCE] for start in range(0, len(pks), _AT_ONCE))
