"""Name the original of the RightNow GPU Database where the catalogue named a hostile clone of it.

The titles of 113 sources named a repository whose download link leads to malware. The next load of the curated files
would correct the sources it wrote, but not those somebody has edited here, nor notes and histories that repeat the title.
"""

import hashlib

from django.db import migrations
from django.db.models import F, Q, Value
from django.db.models.functions import Replace

CLONE = "github.com/reox007/RightNow-GPU-Database"
ORIGINAL = "github.com/RightNow-AI/RightNow-GPU-Database"


def name_the_original(apps, schema_editor):
    Source = apps.get_model("catalog", "Source")
    for source in Source.objects.filter(Q(title__contains=CLONE) | Q(url__contains=CLONE)):
        is_as_loaded = source.loaded_digest == _digest(source)
        source.title, source.url = source.title.replace(CLONE, ORIGINAL), source.url.replace(CLONE, ORIGINAL)
        if is_as_loaded:  # else the next load would take this for a correction by hand and leave the row alone
            source.loaded_digest = _digest(source)
        source.save()
    for name in ("SpecValue", "HistoricalSpecValue"):
        rows = apps.get_model("catalog", name).objects
        for column in ("note", "said_by"):
            rows.filter(**{f"{column}__contains": CLONE}).update(
                **{column: Replace(F(column), Value(CLONE), Value(ORIGINAL))}
            )


def _digest(source):
    content = (source.key, source.title, source.url, str(source.kind))
    return hashlib.blake2b(repr(content).encode(), digest_size=16).hexdigest()


class Migration(migrations.Migration):

    dependencies = [("catalog", "0002_proposals")]

    operations = [migrations.RunPython(name_the_original, migrations.RunPython.noop, elidable=True)]
