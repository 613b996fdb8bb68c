"""What each series keeps of its results, so that no page reads its past: the newest one, a baseline, a count.

Worked out anew from the newest BASELINE_RUNS results of a series, one probe of the index (series, -measured_at), in the
transaction that changed them; so it is right in whatever order reports come, are read again or deleted. Only the
count is carried along: counting takes as long as the history. `manage.py check_series` compares all of it.

Plain SQL, on columns that exist since the first migrations: the migration that fills the columns uses it.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from django.db import connection, transaction

from stackviz.web.postgres_arrays import array_text

BASELINE_RUNS = 20
COUNTS = "state = 'ok' AND (standing IS NULL OR standing = 'accepted')"


@dataclass(frozen=True, slots=True, kw_only=True)
class RollUp:
    """Of one series. `baseline`: median of the medians of `baseline_runs` runs that count, among the newest
    BASELINE_RUNS; `baseline_spread`: the median of their distances from it. None: no such run.
    """

    latest_result: int | None = None
    latest_at: datetime | None = None
    baseline: float | None = None
    baseline_spread: float | None = None
    baseline_runs: int = 0


@transaction.atomic(savepoint=False)
def refresh(series: Iterable[int], added: Mapping[int, int] | None = None) -> None:
    """Bring these series up to date after their results changed; `added`: how many more each has (fewer: negative).

    Each is locked before its results are looked at: of two workers the later one sees the other's results.
    """
    changes = added or {}
    keys = sorted({*series, *changes})
    if not keys:
        return
    if connection.vendor == "postgresql":
        _run(_LOCK, [array_text(keys)])
    rows = [(key, up, changes.get(key, 0)) for key, up in roll_ups(keys).items()]
    if connection.vendor == "postgresql":
        _write_on_postgres(rows)
    else:
        _write_on_sqlite(rows)


def roll_ups(series: Collection[int]) -> dict[int, RollUp]:
    """What these series should have, by key. One query; the series are not locked."""
    if connection.vendor == "postgresql":
        rows = _run(_NEWEST_ON_POSTGRES, [array_text(series)])
        return {key: _roll_up(latest, at, medians or []) for key, latest, at, medians in rows}
    newest = _run(_NEWEST_ON_SQLITE, [json.dumps(list(series))])
    return {key: _roll_up_of_json(json.loads(results)) for key, results in newest}


def counting_results(series: Collection[int], runs: int) -> list[int]:
    """Keys of the newest `runs` results that count of each of these series, among its newest BASELINE_RUNS."""
    if connection.vendor == "postgresql":
        return [key for (key,) in _run(_COUNTING_ON_POSTGRES, [array_text(series), runs])]
    keys: list[int] = []
    for _series, results in _run(_NEWEST_ON_SQLITE, [json.dumps(list(series))]):
        counting = [key for key, _at, median_text in json.loads(results) if median_text is not None]
        keys += counting[:runs]
    return keys


def _roll_up(latest: int | None, at: datetime | None, medians: Sequence[float]) -> RollUp:
    if not medians:
        return RollUp(latest_result=latest, latest_at=at)
    middle = median(medians)
    return RollUp(
        latest_result=latest,
        latest_at=at,
        baseline=middle,
        baseline_spread=median(abs(value - middle) for value in medians),
        baseline_runs=len(medians),
    )


def _roll_up_of_json(results: Sequence[Sequence[Any]]) -> RollUp:
    """`results`: (key, time, median as text or None where the run does not count), newest first."""
    if not results:
        return RollUp()
    latest, at, _median = results[0]
    time = datetime.fromisoformat(at).replace(tzinfo=UTC)
    return _roll_up(latest, time, [float(value) for _key, _at, value in results if value is not None])


_LOCK = "SELECT id FROM benchmarks_series WHERE id = ANY(%s::bigint[]) ORDER BY id FOR NO KEY UPDATE"
_NEWEST = f"""
    SELECT id, measured_at, CASE WHEN {COUNTS} THEN median END AS counted FROM benchmarks_result
    WHERE series_id = wanted.{{key}} ORDER BY measured_at DESC, id DESC LIMIT {BASELINE_RUNS}"""  # noqa: S608 - texts of ours
_NEWEST_ON_POSTGRES = f"""
    SELECT wanted.id, newest.ids[1], newest.times[1], newest.medians
    FROM unnest(%s::bigint[]) AS wanted (id) CROSS JOIN LATERAL (
        SELECT array_agg(id) AS ids, array_agg(measured_at) AS times,
            array_agg(counted) FILTER (WHERE counted IS NOT NULL) AS medians
        FROM ({_NEWEST.format(key="id")}) AS results) AS newest"""  # noqa: S608 - texts of ours
_COUNTING_ON_POSTGRES = f"""
    SELECT counting.id FROM unnest(%s::bigint[]) AS wanted (id) CROSS JOIN LATERAL (
        SELECT id FROM ({_NEWEST.format(key="id")}) AS results
        WHERE counted IS NOT NULL ORDER BY measured_at DESC, id DESC LIMIT %s) AS counting"""  # noqa: S608 - texts of ours
# As text: of a number in JSON SQLite keeps 15 digits.
_EXACT = "CASE WHEN counted IS NOT NULL THEN printf('%%!.17g', counted) END"
_NEWEST_ON_SQLITE = f"""
    SELECT wanted.value, (
        SELECT json_group_array(json_array(id, measured_at, {_EXACT})) FROM ({_NEWEST.format(key="value")}))
    FROM json_each(%s) AS wanted"""  # noqa: S608 - texts of ours
_WRITE_ON_POSTGRES = """
    UPDATE benchmarks_series AS series
    SET latest_result = new.latest, latest_at = new.at, baseline = new.middle, baseline_spread = new.spread,
        baseline_runs = new.runs, result_count = result_count + new.added
    FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[], %s::float8[], %s::float8[], %s::smallint[], %s::bigint[])
        AS new (id, latest, at, middle, spread, runs, added)
    WHERE series.id = new.id"""
_WRITE_ON_SQLITE = """
    UPDATE benchmarks_series
    SET latest_result = %s, latest_at = %s, baseline = %s, baseline_spread = %s, baseline_runs = %s,
        result_count = result_count + %s
    WHERE id = %s"""

Change = tuple[int, RollUp, int]


def _write_on_postgres(rows: Sequence[Change]) -> None:
    columns = zip(*((key, *_values(up), added) for key, up, added in rows), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_WRITE_ON_POSTGRES, [array_text(column) for column in columns])


def _write_on_sqlite(rows: Sequence[Change]) -> None:
    as_stored = connection.ops.adapt_datetimefield_value
    values = [(*_values(up, as_stored), added, key) for key, up, added in rows]
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE_ON_SQLITE, values)


def _values(up: RollUp, as_stored: Callable[[datetime | None], Any] = lambda time: time) -> tuple[Any, ...]:
    """The columns of a roll-up; `as_stored`: makes of a time what the driver of the database takes."""
    return up.latest_result, as_stored(up.latest_at), up.baseline, up.baseline_spread, up.baseline_runs


def _run(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


# --- all of them, in batches ---

SERIES_TOGETHER = 1_000
_KEYS = "SELECT id FROM benchmarks_series WHERE id > %s ORDER BY id LIMIT %s"
_STORED = """
    SELECT id, latest_result, latest_at, baseline, baseline_spread, baseline_runs, result_count
    FROM benchmarks_series WHERE id >= %s AND id <= %s"""
_COUNTED = """
    SELECT series_id, count(*) FROM benchmarks_result WHERE series_id >= %s AND series_id <= %s GROUP BY series_id"""


@dataclass(frozen=True, slots=True)
class StaleSeries:
    """A series whose roll-up is not what its results come to; `more`: by how many results its count is short."""

    series: int
    stored: tuple[RollUp, int]
    expected: tuple[RollUp, int]

    @property
    def more(self) -> int:
        return self.expected[1] - self.stored[1]


def stale_series() -> Iterator[list[StaleSeries]]:
    """Compare every series with its results, a batch at a time. Reads every result once, for the counts."""
    last = 0
    while keys := [key for (key,) in _run(_KEYS, [last, SERIES_TOGETHER])]:
        first, last = keys[0], keys[-1]
        counts = dict(_run(_COUNTED, [first, last]))
        expected = roll_ups(keys)
        stored = {key: (_stored(*columns), count) for key, *columns, count in _run(_STORED, [first, last])}
        yield [
            StaleSeries(key, stored[key], (expected[key], counts.get(key, 0)))
            for key in keys
            if key in stored and stored[key] != (expected[key], counts.get(key, 0))
        ]


def _stored(latest: int | None, at: datetime | None, middle: float | None, spread: float | None, runs: int) -> RollUp:
    if at is not None and at.tzinfo is None:  # as SQLite has it
        at = at.replace(tzinfo=UTC)
    return RollUp(latest_result=latest, latest_at=at, baseline=middle, baseline_spread=spread, baseline_runs=runs)


def correct(wrong: Iterable[StaleSeries]) -> None:
    refresh((), {each.series: each.more for each in wrong})
