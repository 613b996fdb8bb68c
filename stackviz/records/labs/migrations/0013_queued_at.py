"""`rung_at` is called `queued_at` in the code; the column keeps its name."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('labs', '0012_finding_wording'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex('report', 'report_waiting'),
                migrations.RenameField('report', 'rung_at', 'queued_at'),
                migrations.AlterField(
                    model_name='report',
                    name='queued_at',
                    field=models.DateTimeField(db_column='rung_at', null=True, verbose_name='last queued at'),
                ),
                migrations.AddIndex(
                    'report',
                    models.Index(fields=['queued_at'], condition=models.Q(status='received'), name='report_waiting'),
                ),
            ],
        ),
    ]
