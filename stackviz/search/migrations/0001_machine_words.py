import django.db.models.deletion
from django.db import migrations, models

from stackviz.search.beginnings import beginnings

AT_ONCE = 500  # machines


def write_words(apps, schema_editor):
    """The words of the machines that are there; those made later get theirs when they are saved."""
    word = apps.get_model("search", "MachineWord")
    machines = apps.get_model("labs", "Machine").objects.values_list("pk", "name", "slug", "lab__name").order_by("pk")
    last = 0
    while batch := list(machines.filter(pk__gt=last)[:AT_ONCE]):
        word.objects.bulk_create(
            (word(machine_id=pk, beginning=text) for pk, *names in batch for text in beginnings(names, longest=20)),
            batch_size=2000,
        )
        last = batch[-1][0]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('labs', '0006_merge_and_withdraw'),
    ]

    operations = [
        migrations.CreateModel(
            name='MachineWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('beginning', models.CharField(max_length=20)),
                ('machine', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='words', to='labs.machine')),
            ],
            options={
                'verbose_name': 'word of the search',
                'verbose_name_plural': 'words of the search',
                'constraints': [models.UniqueConstraint(fields=('beginning', 'machine'), name='machine_word_once_per_machine')],
            },
        ),
        migrations.RunPython(write_words, migrations.RunPython.noop),
    ]
