"""Add the day of the table to the keys of proposed dates, so that what was declined before is not proposed again."""

from django.db import migrations
from django.db.models import F, Value
from django.db.models.functions import Concat


def add_the_day_before(apps, schema_editor):
    changes = apps.get_model("watch", "ProposedChange").objects.filter(kind__in=("released", "support-ends"))
    changes.update(key=Concat(F("key"), Value("/"), F("before")))


class Migration(migrations.Migration):
    dependencies = [("watch", "0002_compared_with")]

    operations = [migrations.RunPython(add_the_day_before, migrations.RunPython.noop)]
