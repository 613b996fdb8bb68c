"""A site whose results were stored by month gets one table: the schema of a new site, with every row."""

import importlib.util
import os
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, InternalError, connection
from django.db.migrations.recorder import MigrationRecorder

from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.labs.models import Machine
from stackviz.records.series.models import Result
from tests.records.series.rollup_tests import new_machine, nothing_differs, stored

# As 0002_partitions made it before results became one table.
BY_MONTH = """
    CREATE TABLE by_month (LIKE benchmarks_result INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
        PARTITION BY RANGE (measured_at);
    DROP TABLE benchmarks_result;
    ALTER TABLE by_month RENAME TO benchmarks_result;
    CREATE SEQUENCE benchmarks_result_id_seq OWNED BY benchmarks_result.id;
    ALTER TABLE benchmarks_result
        ALTER id SET DEFAULT nextval('benchmarks_result_id_seq'),
        ADD CONSTRAINT benchmarks_result_pkey PRIMARY KEY (id, measured_at),
        ADD CONSTRAINT result_once_per_report_and_position UNIQUE (report_id, position, measured_at),
        ADD CONSTRAINT benchmarks_result_series FOREIGN KEY (series_id) REFERENCES benchmarks_series (id)
            DEFERRABLE INITIALLY DEFERRED,
        ADD CONSTRAINT benchmarks_result_report FOREIGN KEY (report_id) REFERENCES labs_report (id)
            DEFERRABLE INITIALLY DEFERRED;
    CREATE INDEX result_newest_of_series ON benchmarks_result (series_id, measured_at DESC);
    CREATE TABLE benchmarks_result_others PARTITION OF benchmarks_result DEFAULT;
    CREATE TABLE benchmarks_result_2026_10 PARTITION OF benchmarks_result
        FOR VALUES FROM ('2026-10-01 00:00:00+00') TO ('2026-11-01 00:00:00+00');
    CREATE TABLE benchmarks_result_2026_11 PARTITION OF benchmarks_result
        FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00')"""
MIGRATION = "0003_one_table_of_results"


def schema(url: str) -> str:
    """What `pg_dump -s` prints, without the key that newer releases make up for each dump."""
    package = importlib.util.find_spec("pgserver")
    folders = [str(Path(package.origin).parent / "pginstall/bin")] if package else []
    path = os.pathsep.join([*folders, os.environ["PATH"]])
    done = subprocess.run(
        ["pg_dump", "--schema-only", url], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    return "\n".join(line for line in done.stdout.splitlines() if not line.startswith(("\\restrict", "\\unrestrict")))


def execute(statement: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def rows() -> list[dict]:
    return list(Result.objects.order_by("pk").values())


def months() -> int:
    return execute("SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r'")[0][0]


@pytest.fixture
def new_schema(on_postgres) -> str:
    """The schema of a new site; its results are then stored by month: in two of them and in the default partition."""
    new = schema(on_postgres)
    with connection.cursor() as cursor:
        cursor.execute(BY_MONTH)
        cursor.execute("SELECT setval('benchmarks_result_id_seq', 1000)")
    machine = new_machine()
    days = ("2026-11-05", "2026-10-31", "2025-03-01", "2026-10-01")
    interpret_all(
        [stored(machine, 1, number / 10, started_at=f"{day}T00:00:00Z") for number, day in enumerate(days, 1)]
    )
    MigrationRecorder(connection).record_unapplied("benchmarks", MIGRATION)
    return new


def test_months_become_one_table(on_postgres, new_schema):
    before = rows()
    assert (len(before), before[0]["id"], months()) == (4, 1001, 3)
    call_command("migrate", "benchmarks", verbosity=0)
    assert rows() == before
    assert schema(on_postgres) == new_schema
    again = stored(Machine.objects.get(), 7, 0.7)
    assert interpret_all([again]) == ["read"]
    assert Result.objects.get(report_id=again).pk == 1005
    assert nothing_differs()


def test_detached_month_stays_when_months_become_one_table(new_schema):
    """A detached month takes its keys from the sequence of the table that goes."""
    execute("ALTER TABLE benchmarks_result DETACH PARTITION benchmarks_result_2026_10")
    detached, before = execute("SELECT * FROM benchmarks_result_2026_10"), rows()
    assert len(detached) + len(before) == 4 > len(before)
    call_command("migrate", "benchmarks", verbosity=0)
    assert (execute("SELECT * FROM benchmarks_result_2026_10"), rows()) == (detached, before)
    assert interpret_all([stored(Machine.objects.get(), 7, 0.7)]) == ["read"]
    assert Result.objects.latest("pk").pk == 1005


def test_view_on_months_stops_the_migration_and_stays(new_schema):
    execute("CREATE VIEW of_operator AS SELECT id FROM benchmarks_result")
    before = rows()
    with pytest.raises(InternalError, match="of_operator"):
        call_command("migrate", "benchmarks", verbosity=0)
    assert (rows(), months(), len(execute("SELECT * FROM of_operator"))) == (before, 3, 4)


def test_months_stay_where_a_position_is_there_twice(new_schema):
    twice = Result.objects.order_by("pk").last()
    twice.pk, twice.measured_at = None, twice.measured_at - timedelta(days=40)
    twice.save()
    before = rows()
    with pytest.raises(IntegrityError, match="result_once_per_report_and_position"):
        call_command("migrate", "benchmarks", verbosity=0)
    assert (rows(), months()) == (before, 3)
