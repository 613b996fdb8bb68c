"""Results in partitions by month: made ahead, taken out, read by index alone, and never dropped by a migration."""

from datetime import UTC, date, datetime
from importlib import import_module
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.exceptions import IrreversibleError

from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.models import Report
from stackviz.records.series.models import Result, Series
from stackviz.records.series.partitions import OTHERS, detach_before, is_partitioned, make_months, months
from stackviz.records.series.queries import latest_result, series_history
from stackviz.records.series.tasks import make_result_partitions
from tests.records.series.rollup_tests import new_machine, nothing_differs, stored


@pytest.fixture
def ids(on_postgres) -> list[str]:
    """Reports of 1, 2 and 3 October 2026, before the first month that has a partition."""
    machine = new_machine()
    ids = [stored(machine, day, float(day)) for day in (1, 2, 3)]
    interpret_all(ids)
    return ids


def rows_in(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0]


def test_coming_months_are_there():
    assert is_partitioned()
    assert len(months()) == 4
    assert make_result_partitions() == "0 months made"


def test_rows_move_from_the_default_partition_to_their_month(ids):
    assert rows_in(OTHERS) == 3
    assert make_months(date(2026, 9, 5), date(2026, 10, 1)) == [date(2026, 9, 1), date(2026, 10, 1)]
    assert (rows_in(OTHERS), rows_in("benchmarks_result_2026_10"), Result.objects.count()) == (0, 3, 3)
    assert nothing_differs()


def test_an_old_month_is_taken_out_and_kept(ids):
    make_months(date(2026, 10, 1), date(2026, 10, 1))
    assert detach_before(date(2026, 11, 1)) == ["benchmarks_result_2026_10"]
    assert (Result.objects.count(), rows_in("benchmarks_result_2026_10")) == (0, 3)
    series = Series.objects.get()
    assert (series.latest_result, series.result_count) == (None, 0)
    forget_reports(Report.objects.filter(pk=ids[0]))
    assert rows_in("benchmarks_result_2026_10") == 3


def test_no_migration_drops_results(ids):
    """Neither back, which would end with a second division of the table, nor where the division finds results."""
    with pytest.raises(IrreversibleError):
        call_command("migrate", "benchmarks", "0001", verbosity=0, stdout=StringIO())
    division = import_module("stackviz.records.series.migrations.0002_partitions")
    with connection.schema_editor() as editor, pytest.raises(ValueError, match="has results but no partitions"):
        division.divide(apps, editor)
    assert is_partitioned()
    assert Result.objects.count() == 3


def test_one_position_of_a_report_is_stored_once(ids):
    result = Result.objects.first()
    result.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        result.save()


def test_pages_scan_no_partition(ids):
    """With 20,000 more results over four months: every read of results goes through an index."""
    series = Series.objects.get()
    make_months(date(2026, 7, 1), date(2026, 10, 1))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO benchmarks_result (series_id, report_id, position, measured_at, state, reason, unit, median,"
            " sample_count, samples, conditions) SELECT %s, %s, n, %s - n * interval '8 minutes', 'ok', '', 's', 0.1, 1,"
            " '[0.1]', '{}' FROM generate_series(1, 20000) n",
            [series.pk, ids[0], datetime(2026, 10, 1, tzinfo=UTC)],
        )
        cursor.execute("ANALYZE")
    plans: list[str] = []

    def explain(execute, sql, params, many, context):
        if "benchmarks_result" in sql and sql.lstrip().startswith(("SELECT", "WITH")):
            rows = connection.cursor().connection.execute(f"EXPLAIN {sql}", params).fetchall()
            plans.append("\n".join(row for (row,) in rows))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        assert latest_result(series) is not None
        assert len(series_history(series)) == 500
    assert len(plans) == 2
    crowded = "benchmarks_result_2026_0"
    assert not any(f"Seq Scan on {crowded}" in plan for plan in plans), plans
