from django.db import migrations, models


class Migration(migrations.Migration):
    """New labs are private unless somebody says otherwise. Labs that exist keep what they are: no table changes."""

    dependencies = [("labs", "0001_squashed_0010_read_keys")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="lab",
                    name="is_public",
                    field=models.BooleanField(
                        default=False, help_text="Anyone can see this lab's machines and reports."
                    ),
                ),
            ],
        ),
    ]
