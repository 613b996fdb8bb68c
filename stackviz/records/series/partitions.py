"""On PostgreSQL results are stored by the month they were measured in, so that old months can be taken out at once.

What lies in no month that has a partition goes into the default one, and moves when its month is made. Elsewhere all
of this does nothing: `is_partitioned` is False.
"""

from datetime import date
from typing import Any

from django.db import connection, transaction

from stackviz.records.series.rollup import refresh

TABLE = "benchmarks_result"
OTHERS = f"{TABLE}_others"
AHEAD = 3  # months


def is_partitioned() -> bool:
    if connection.vendor != "postgresql":
        return False
    [(kind,)] = _run("SELECT relkind FROM pg_class WHERE oid = %s::regclass", TABLE)
    return bool(kind in ("p", b"p"))


def month_of(day: date) -> date:
    return day.replace(day=1)


def next_month(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def partition_of(month: date) -> str:
    """Name of the table of a month: `benchmarks_result_2026_11`."""
    return f"{TABLE}_{month:%Y_%m}"


def months() -> list[date]:
    """Months with a partition, oldest first."""
    rows = _run("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass", TABLE)
    names = sorted(name for (name,) in rows if name != OTHERS)
    return [date(int(name[-7:-3]), int(name[-2:]), 1) for name in names]


def make_months(first: date, last: date) -> list[date]:
    """Make the partitions of these months that are not there; rows of theirs in the default one move."""
    made = []
    there, month = set(months()), month_of(first)
    while month <= last:
        if month not in there:
            _make(month)
            made.append(month)
        month = next_month(month)
    return made


@transaction.atomic
def _make(month: date) -> None:
    name, bounds = partition_of(month), (month.isoformat(), next_month(month).isoformat())
    # Others wait before they read: rows are in the default partition, or here, and never in neither.
    _do(f"LOCK TABLE {TABLE} IN SHARE ROW EXCLUSIVE MODE")
    _do(f"CREATE TABLE {name} (LIKE {TABLE} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    inside = "measured_at >= %s::timestamptz AND measured_at < %s::timestamptz"
    moved = f"WITH moved AS (DELETE FROM {OTHERS} WHERE {inside} RETURNING *)"  # noqa: S608 - names of tables made of months
    _do(f"{moved} INSERT INTO {name} SELECT * FROM moved", *(f"{bound} 00:00:00+00" for bound in bounds))  # noqa: S608 - names of tables made of months
    start, end = (f"'{bound} 00:00:00+00'" for bound in bounds)
    _do(f"ALTER TABLE {TABLE} ATTACH PARTITION {name} FOR VALUES FROM ({start}) TO ({end})")


def make_coming_months(today: date) -> list[date]:
    """This month and the next AHEAD."""
    last = month_of(today)
    for _month in range(AHEAD):
        last = next_month(last)
    return make_months(today, last)


def detach_before(month: date) -> list[str]:
    """Take the months before this one out -> the tables they are now. No page shows them, and nothing is deleted."""
    return [_detach(old) for old in months() if old < month_of(month)]


@transaction.atomic
def _detach(month: date) -> str:
    name = partition_of(month)
    _do(f"ALTER TABLE {TABLE} DETACH PARTITION {name}")
    keys = _run("SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = %s::regclass", name)
    for (key,) in keys:  # or a report could not be deleted while its old results are kept
        _do(f'ALTER TABLE {name} DROP CONSTRAINT "{key}"')
    counts = _run(f"SELECT series_id, count(*) FROM {name} GROUP BY series_id")  # noqa: S608 - names of tables made of months
    refresh((), {series: -count for series, count in counts})
    return name


def _run(sql: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def _do(sql: str, *values: Any) -> None:  # noqa: ANN401
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
