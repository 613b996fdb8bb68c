"""The change log and the completeness view on a real PostgreSQL, whose queries SQLite's tests say nothing about."""

import pytest
from django.utils import timezone

from stackviz.desk.curation.completeness import COUNTED, read_matrix
from stackviz.pages.accelerators.changes import LogFilter, read_log
from stackviz.records.catalog.models import Accelerator, Alias, CatalogueLoad, Source, SpecValue, Vendor
from stackviz.records.curated.change import loading


@pytest.fixture
def history(on_postgres) -> Accelerator:
    """A load of two values, one of which a second load took away; a correction; a name."""
    vendor = Vendor.objects.create(slug="acme", name="Acme")
    card = Accelerator.objects.create(slug="acme-one", name="Acme One", vendor=vendor, kind="gpu")
    source = Source.objects.create(key="s", title="Sheet", url="https://acme.example/", kind="maker")
    for number in range(2):
        value = SpecValue(accelerator=card, field="tdp_w", value=str(300 + number), unit="W", source=source)
        value.status, value.data_key = "public", f"k{number}"
        value.set_change_reason("Loaded from the curated files, version abc")
        value.save()
    CatalogueLoad.objects.create(version="abc")
    with loading("def"):
        SpecValue.objects.filter(data_key="k0").delete()
    CatalogueLoad.objects.create(version="def")
    corrected = SpecValue.objects.get()
    corrected.value = "350"
    corrected.set_change_reason("typed wrongly")
    corrected.save()
    Alias.objects.create(accelerator=card, name="ACME 1", source=source)
    return card


@pytest.mark.django_db(transaction=True)
def test_the_log_is_the_same_on_postgresql(history):
    entries = read_log(LogFilter()).entries
    told = [(entry.what, entry.old, entry.new, entry.counts) for entry in entries]
    assert told == [
        ("added", "", "ACME 1", ()),
        ("changed", "301 W", "350 W", ()),
        ("loaded", "", "", ("1 value removed",)),
        ("loaded", "", "", ("2 values added",)),
        ("added", "", "", ()),
    ]
    steps = read_log(LogFilter(load=entries[2].load)).entries
    assert [(entry.what, entry.old) for entry in steps] == [("removed", "300 W")]
    assert len(read_log(LogFilter(accelerator="acme-one", vendor="acme", field="tdp_w")).entries) == 3


@pytest.mark.django_db(transaction=True)
def test_completeness_is_the_same_on_postgresql(history):
    matrix = read_matrix(Accelerator.objects.order_by("name"), COUNTED, timezone.now())
    (cell,) = [cell for cell in matrix.devices[0].cells if cell.field == "tdp_w"]
    assert (cell.state, cell.values, cell.sources) == ("one-source", 1, 1)
