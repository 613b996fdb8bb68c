"""Accelerators for tests of several rooms: the curated H100, and one made by hand with a source and a value."""

import pytest

from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor


@pytest.fixture
def h100(curated, db) -> Accelerator:
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
