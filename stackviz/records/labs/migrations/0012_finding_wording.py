from django.db import migrations, models


class Migration(migrations.Migration):
    """The keys of what findings say. Findings of before have none and stay in English until they are read again."""

    dependencies = [("labs", "0011_labs_begin_private")]
    operations = [
        migrations.AddField(
            model_name="finding",
            name="wording",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
    ]
