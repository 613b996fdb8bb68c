"""On a real PostgreSQL: loads at once run one after the other, and the database refuses what is not a number."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection

from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import CatalogueLoad, SpecValue


def load_in_thread(_number: int) -> bool:
    try:
        return load_catalogue().is_unchanged
    finally:
        connection.close()


def test_two_sites_that_start_together_load_once(on_postgres):
    with ThreadPoolExecutor(2) as pool:
        was_unchanged = sorted(pool.map(load_in_thread, range(2)))
    assert was_unchanged == [False, True]
    assert CatalogueLoad.objects.count() == 1


@pytest.mark.parametrize("amount", [float("nan"), float("inf")])
def test_an_amount_that_is_not_finite_is_refused(on_postgres, bandwidth_on_postgres, amount):
    with pytest.raises(IntegrityError, match="specvalue_amount_finite_not_negative"):
        SpecValue.objects.filter(pk=bandwidth_on_postgres).update(amount=amount)


@pytest.fixture
def bandwidth_on_postgres(on_postgres) -> int:
    from stackviz.records.catalog.models import Accelerator, Vendor

    vendor = Vendor.objects.create(slug="acme", name="Acme")
    card = Accelerator.objects.create(slug="acme-one", name="Acme One", vendor=vendor, kind="gpu")
    value = SpecValue.objects.create(accelerator=card, field="tdp_w", value="700", unit="W")
    return value.pk
