"""On PostgreSQL: one plain table of results in place of one partition per month. Nothing to do elsewhere.

One transaction: readers and writers wait, and whatever fails, the partitions stay. Needs the disk space of the results
once more. Months that were detached earlier are tables of their own, and stay.
"""

from django.db import migrations

# The new table gets the names of indexes, sequences and checks that the table of a new site has: they must be free.
SET_ASIDE = """
    LOCK TABLE benchmarks_result IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE benchmarks_result RENAME TO benchmarks_result_by_month;
    ALTER TABLE benchmarks_result_by_month
        DROP CONSTRAINT benchmarks_result_pkey,
        DROP CONSTRAINT result_once_per_report_and_position,
        DROP CONSTRAINT IF EXISTS benchmarks_result_position_check,
        DROP CONSTRAINT IF EXISTS benchmarks_result_sample_count_check;
    DROP INDEX result_newest_of_series;
    ALTER SEQUENCE benchmarks_result_id_seq OWNED BY NONE;
    ALTER SEQUENCE benchmarks_result_id_seq RENAME TO benchmarks_result_by_month_id_seq"""
NEXT_KEY = """
    SELECT setval(pg_get_serial_sequence('benchmarks_result', 'id'), last_value, is_called)
    FROM benchmarks_result_by_month_id_seq"""
# The table without CASCADE: a view on it is never dropped. The sequence with it: detached months lose their default.
DROP_OLD = """
    DROP TABLE benchmarks_result_by_month;
    DROP SEQUENCE benchmarks_result_by_month_id_seq CASCADE"""


def merge_months(apps, editor):
    """Copy all rows to a new table with the indexes and constraints of the model, then drop the partitions."""
    if editor.connection.vendor != "postgresql":
        return
    result = apps.get_model("benchmarks", "Result")
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = 'benchmarks_result'::regclass")
        if not cursor.fetchone()[0]:
            return
        cursor.execute(SET_ASIDE)
        editor.create_model(result)  # its index and foreign keys are made when this migration ends
        columns = ", ".join(f'"{field.column}"' for field in result._meta.concrete_fields)
        cursor.execute(
            f"INSERT INTO benchmarks_result ({columns}) SELECT {columns} FROM benchmarks_result_by_month ORDER BY id"
        )
        cursor.execute(NEXT_KEY)
        cursor.execute(DROP_OLD)


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0002_partitions'),
    ]

    operations = [migrations.RunPython(merge_months, migrations.RunPython.noop)]
