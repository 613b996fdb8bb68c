from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SIZES = ["memory_gb", "memory_gb_max", "l2_cache_mb", "infinity_cache_mb", "system_level_cache_mb"]
DECIMAL = {"KiB": 1e3, "MiB": 1e6, "GiB": 1e9, "TiB": 1e12}


def count_binary_sizes_as_decimal(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give values printed in GiB the amount that loads compute since 32 GiB of memory compare as 32 GB."""
    for name in ("SpecValue", "HistoricalSpecValue"):
        model = apps.get_model("catalog", name)
        for row in model._default_manager.filter(field__in=SIZES, unit__in=DECIMAL):
            row.amount = float(row.value) * DECIMAL[row.unit]
            row.save(update_fields=["amount"])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0008_undated_prices")]

    operations = [migrations.RunPython(count_binary_sizes_as_decimal, migrations.RunPython.noop, elidable=True)]
