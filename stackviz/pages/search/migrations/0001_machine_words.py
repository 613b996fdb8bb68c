import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('labs', '0001_squashed_0010_read_keys'),
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
    ]
