"""Accelerators for tests of several rooms: the curated H100, and one made by hand with a source and a value."""

import shutil
from pathlib import Path

import pytest

from stackviz.records.catalog.files import DATA
from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor

PRODUCT_FILES = ("accelerators.csv", "aliases.csv", "specs/nvidia.csv")


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


def files_of(folder: Path, *slugs: str) -> Path:
    """A copy of the curated files with these NVIDIA accelerators alone, without corrections and prices."""
    data = folder / "data"
    (data / "specs").mkdir(parents=True)
    for name in ("vendors.csv", "sources.csv"):
        shutil.copy(DATA / name, data / name)
    for name in PRODUCT_FILES:
        head, *lines = (DATA / name).read_text(encoding="utf-8").splitlines()
        chosen = [line for line in lines if line.partition(",")[0] in slugs]
        (data / name).write_text("\n".join([head, *chosen, ""]), encoding="utf-8")
    return data


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
