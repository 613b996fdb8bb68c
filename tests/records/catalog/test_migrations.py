"""Migrations of the catalogue's tables on rows of an earlier release."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


@pytest.mark.django_db(transaction=True)
def test_sizes_printed_in_gib_count_as_gb():
    executor = MigrationExecutor(connection)
    old = executor.migrate([("catalog", "0008_undated_prices")]).apps
    vendor = old.get_model("catalog", "Vendor").objects.create(slug="google", name="Google")
    chip = old.get_model("catalog", "Accelerator").objects.create(slug="tpu", name="TPU", vendor=vendor, kind="asic")
    values = old.get_model("catalog", "SpecValue").objects
    shared = {"accelerator": chip, "unit": "GiB", "basis": "published", "status": "unreviewed"}
    values.create(field="memory_gb", value="32", amount=32 * 2**30, **shared)
    values.create(field="gpu_memory_limit_mb", value="24", amount=24 * 2**30, **shared)
    executor = MigrationExecutor(connection)
    new = executor.migrate(executor.loader.graph.leaf_nodes()).apps
    amounts = dict(new.get_model("catalog", "SpecValue").objects.values_list("field", "amount"))
    assert amounts == {"memory_gb": 32e9, "gpu_memory_limit_mb": 24 * 2**30}
