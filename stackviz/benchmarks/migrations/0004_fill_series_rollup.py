"""Fills what series keep of their results: batches of 1,000 series, each in a transaction of its own, repeatable."""

from django.db import migrations

from stackviz.benchmarks.rollup import correct, stale_series


def fill(_apps, _editor):
    for wrong in stale_series():
        correct(wrong)


class Migration(migrations.Migration):

    atomic = False  # one transaction over all series would hold every row locked until the end

    dependencies = [
        ('benchmarks', '0003_series_rollup'),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
