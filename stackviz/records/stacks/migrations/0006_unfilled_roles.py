"""Gaps are recorded by role and stack, instead of as counterparts that are missing.

Rows that people added or edited are carried over, one for each role and stack; those of the curated files are loaded anew.
"""

import django.core.validators
import django.db.models.deletion
import simple_history.models
from django.conf import settings
from django.db import migrations, models


def carry_gaps_over(apps, editor):
    """Make unfilled roles of the missing counterparts that people added or edited, and delete all missing counterparts.

    Several of one role and stack become one, with the explanations of all. Each gets a first record in its history.
    """
    names = ("Counterpart", "UnfilledRole", "HistoricalUnfilledRole")
    counterpart, role, record = (apps.get_model("stacks", name) for name in names)
    missing = counterpart.objects.filter(relation="none")
    edits = apps.get_model("stacks", "HistoricalCounterpart").objects.filter(relation="none", history_user__isnull=False)
    ours = missing.filter(models.Q(data_key=None) | models.Q(pk__in=list(edits.values_list("id", flat=True))))
    carried = {}
    for row in ours.select_related("component").order_by("pk"):
        key = row.other_stack_id, row.component.role
        if key in carried:
            carried[key].explanation = f"{carried[key].explanation} {row.differs}"[:600]
        else:
            new = role(stack_id=key[0], role=key[1], explanation=row.differs, source_id=row.source_id)
            carried[key] = new
    for row in carried.values():
        row.save()
        fields = {field.attname: getattr(row, field.attname) for field in role._meta.concrete_fields}
        record.objects.create(**fields, history_date=row.changed_at, history_type="+")
    missing.delete()
    if editor.connection.vendor == "postgresql":
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with deferred checks cannot be altered


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0001_squashed_0007_price_digits'),
        ('stacks', '0001_squashed_0005_table_checks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='HistoricalUnfilledRole',
            fields=[
                ('id', models.BigIntegerField(auto_created=True, blank=True, db_index=True, verbose_name='ID')),
                ('data_key', models.CharField(blank=True, db_index=True, editable=False, max_length=300, null=True)),
                ('loaded_digest', models.CharField(blank=True, editable=False, max_length=32)),
                ('changed_at', models.DateTimeField(blank=True, editable=False)),
                ('role', models.CharField(max_length=40, validators=[django.core.validators.RegexValidator('\\A[a-z0-9]+(?:-[a-z0-9]+)*\\Z', 'lower case letters, digits and single dashes only')])),
                ('explanation', models.TextField(max_length=600)),
                ('history_change_reason', models.TextField(null=True)),
                ('history_id', models.AutoField(primary_key=True, serialize=False)),
                ('history_date', models.DateTimeField(db_index=True)),
                ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
            ],
            options={
                'verbose_name': 'historical unfilled role',
                'verbose_name_plural': 'historical unfilled roles',
                'ordering': ('-history_date', '-history_id'),
                'get_latest_by': ('history_date', 'history_id'),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name='UnfilledRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('data_key', models.CharField(blank=True, editable=False, max_length=300, null=True, unique=True)),
                ('loaded_digest', models.CharField(blank=True, editable=False, max_length=32)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('role', models.CharField(max_length=40, validators=[django.core.validators.RegexValidator('\\A[a-z0-9]+(?:-[a-z0-9]+)*\\Z', 'lower case letters, digits and single dashes only')])),
                ('explanation', models.TextField(max_length=600)),
            ],
            options={
                'ordering': ['stack', 'role'],
            },
        ),
        migrations.AddField(
            model_name='historicalunfilledrole',
            name='done_by',
            field=models.ForeignKey(blank=True, db_constraint=False, help_text='empty if nothing does this job', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stacks.component'),
        ),
        migrations.AddField(
            model_name='historicalunfilledrole',
            name='history_user',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='historicalunfilledrole',
            name='source',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='catalog.source'),
        ),
        migrations.AddField(
            model_name='historicalunfilledrole',
            name='stack',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='stacks.stack'),
        ),
        migrations.AddField(
            model_name='unfilledrole',
            name='done_by',
            field=models.ForeignKey(blank=True, help_text='empty if nothing does this job', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='stacks.component'),
        ),
        migrations.AddField(
            model_name='unfilledrole',
            name='source',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='unfilled_roles', to='catalog.source'),
        ),
        migrations.AddField(
            model_name='unfilledrole',
            name='stack',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unfilled_roles', to='stacks.stack'),
        ),
        migrations.AddConstraint(
            model_name='unfilledrole',
            constraint=models.UniqueConstraint(fields=('stack', 'role'), name='unfilled_role_once_per_stack'),
        ),
        migrations.AddConstraint(
            model_name='unfilledrole',
            constraint=models.CheckConstraint(condition=models.Q(('explanation', ''), _negated=True), name='unfilled_role_is_explained'),
        ),
        migrations.RunPython(carry_gaps_over, migrations.RunPython.noop, elidable=True),
        migrations.RemoveConstraint(
            model_name='counterpart',
            name='counterpart_names_a_component_or_a_stack_without_one',
        ),
        migrations.RemoveConstraint(
            model_name='counterpart',
            name='component_is_not_its_own_counterpart',
        ),
        migrations.RemoveConstraint(
            model_name='counterpart',
            name='counterpart_once',
        ),
        migrations.RemoveField(
            model_name='counterpart',
            name='other_stack',
        ),
        migrations.RemoveField(
            model_name='historicalcounterpart',
            name='other_stack',
        ),
        migrations.AlterField(
            model_name='counterpart',
            name='other',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='counterparts_of', to='stacks.component'),
        ),
        migrations.AlterField(
            model_name='counterpart',
            name='relation',
            field=models.CharField(choices=[('same-role', 'same role'), ('partial', 'partly')], max_length=10),
        ),
        migrations.AlterField(
            model_name='historicalcounterpart',
            name='relation',
            field=models.CharField(choices=[('same-role', 'same role'), ('partial', 'partly')], max_length=10),
        ),
        migrations.AddConstraint(
            model_name='counterpart',
            constraint=models.CheckConstraint(condition=models.Q(('other', models.F('component')), _negated=True), name='component_is_not_its_own_counterpart'),
        ),
        migrations.AddConstraint(
            model_name='counterpart',
            constraint=models.UniqueConstraint(fields=('component', 'other'), name='counterpart_of_two_components_once'),
        ),
    ]
