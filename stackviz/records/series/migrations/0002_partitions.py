"""Results were stored by month on PostgreSQL until 0003. The name stays: databases and backups have it."""

from django.db import migrations


class Migration(migrations.Migration):

    replaces = [('benchmarks', '0005_partitions')]

    dependencies = [
        ('benchmarks', '0001_squashed_0007_series_of_setting'),
    ]

    operations = []
