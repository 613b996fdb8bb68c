"""Loads say how many results they added, changed and removed; those of before said it in their summary only."""

import re

from django.db import migrations, models

_WORDS = {"new": "added", "updated": "changed", "deleted": "removed"}


def count_what_loads_did(apps, _schema_editor):
    for load in apps.get_model("cited", "CitedLoad").objects.iterator():
        results = load.summary.rpartition("results: ")[2]
        counted = re.findall(r"(\d+) (new|updated|deleted)", results)
        load.counts = {_WORDS[word]: int(number) for number, word in counted}
        load.save(update_fields=["counts"])


class Migration(migrations.Migration):
    dependencies = [("cited", "0001_initial")]

    operations = [
        migrations.AddField("citedload", "counts", models.JSONField(blank=True, default=dict)),
        migrations.RunPython(count_what_loads_did, migrations.RunPython.noop),
    ]
