"""The whole curated catalogue, loaded once per file of tests and rolled back after it."""

from collections.abc import Iterator

import pytest
from django.db import transaction

from stackviz.catalog.change import Summary
from stackviz.catalog.models import Accelerator, Source, SpecValue, Vendor
from tests.curated import put_catalogue


@pytest.fixture(scope="module")
def loaded(django_db_setup, django_db_blocker) -> Iterator[Summary]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield put_catalogue()
        transaction.set_rollback(True)


@pytest.fixture
def h100(loaded, db) -> Accelerator:
    return Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")


@pytest.fixture
def card(db) -> Accelerator:
    """One accelerator made by hand, without any value."""
    vendor = Vendor.objects.create(slug="acme", name="Acme")
    return Accelerator.objects.create(slug="acme-one", name="Acme One", vendor=vendor, kind="gpu")


@pytest.fixture
def sheet_source(db) -> Source:
    return Source.objects.create(
        key="acme-sheet", title="Acme data sheet", url="https://acme.example/one", kind="maker"
    )


@pytest.fixture
def bandwidth(card, sheet_source) -> SpecValue:
    return SpecValue.objects.create(
        accelerator=card,
        field="memory_bandwidth_gb_s",
        value="3350",
        unit="GB/s",
        source=sheet_source,
        status="public",
        is_preferred=True,
    )
