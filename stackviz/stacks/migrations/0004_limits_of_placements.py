import django.core.validators
from django.db import migrations, models

LIMITS = (
    r"\A[a-z0-9]+(?:-[a-z0-9]+)* [A-Za-z]*\d{1,9}(?:\.\d{1,9})*"
    r"(?:, [a-z0-9]+(?:-[a-z0-9]+)* [A-Za-z]*\d{1,9}(?:\.\d{1,9})*)*\Z"
)


def limit(help_text):
    return models.CharField(
        blank=True,
        help_text=help_text,
        max_length=120,
        validators=[
            django.core.validators.RegexValidator(
                LIMITS, "components with a release, or architectures: pytorch 2.0, compute-capability 7.5"
            )
        ],
    )


class Migration(migrations.Migration):
    dependencies = [("stacks", "0003_labels")]

    operations = [
        migrations.AddField(model_name=model, name=name, field=limit(help_text))
        for model in ("historicalplacement", "placement")
        for name, help_text in (
            ("since", "exists from this release or architecture on: pytorch 2.0, compute-capability 7.5"),
            ("until", "exists up to this release or architecture"),
        )
    ]
