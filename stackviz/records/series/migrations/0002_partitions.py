"""On PostgreSQL: results in partitions by month. The table must be empty: it is made anew. SQLite is left as it is.

There is no way back: it would need a table without partitions, and would have to move every result.
"""

from django.db import migrations
from django.utils import timezone

from stackviz.records.series.partitions import make_coming_months

DIVIDE = """
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
    CREATE TABLE benchmarks_result_others PARTITION OF benchmarks_result DEFAULT"""


def divide(apps, editor):
    if editor.connection.vendor != "postgresql":
        return
    if apps.get_model("benchmarks", "Result").objects.exists():
        raise ValueError("benchmarks_result has results but no partitions: upgrade through commit 8695c0f7, see docs/backup.md")
    editor.execute(DIVIDE, params=None)
    make_coming_months(timezone.now().date())


class Migration(migrations.Migration):

    replaces = [('benchmarks', '0005_partitions')]

    dependencies = [
        ('benchmarks', '0001_squashed_0007_series_of_setting'),
    ]

    operations = [migrations.RunPython(divide)]
