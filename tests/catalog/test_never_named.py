"""Addresses that must never be named: in no committed file but their own list, and corrected where they were loaded."""

import importlib

import pytest
from django.apps import apps

from stackviz.catalog.load import load_catalogue
from stackviz.catalog.models import Source, SpecValue
from stackviz.catalog.never_named import forbidden_address_in, never_named
from tests.architecture.test_files import committed_files
from tests.curated import copy_curated
from tests.live import ROOT

migration = importlib.import_module("stackviz.catalog.migrations.0003_hostile_clone")
MAY_NAME = {"data/never_named.csv", "0003_hostile_clone.py", "test_never_named.py", "test_check.py"}


def test_never_named_lines_are_complete():
    assert never_named()
    assert all(line.address and line.instead and line.reason for line in never_named())
    assert [line for line in never_named() if forbidden_address_in(line.instead)] == []


def test_no_committed_file_names_one():
    naming = []
    for name in committed_files():
        if name.endswith(tuple(MAY_NAME)):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        if forbidden_address_in(text):
            naming.append(name)
    assert naming == []


@pytest.fixture
def loaded_before(db) -> Source:
    """A source as the files of the last version loaded it."""
    copy_curated("catalog_")
    source = Source.objects.filter(kind=Source.Kind.PRESS).order_by("pk").first()
    source.title, source.read_as, source.read_on = f"{source.title} (copy {migration.CLONE})", "", None
    source.loaded_digest = source.digest
    source.save()
    return source


def test_upgrade_corrects_loaded_sources(loaded_before):
    migration.name_the_original(apps, None)
    corrected = Source.objects.get(pk=loaded_before.pk)
    assert migration.ORIGINAL in corrected.title
    assert not corrected.is_corrected_here
    assert load_catalogue(force=True).tables["sources"].protected == 0


def test_upgrade_corrects_edited_sources(loaded_before):
    loaded_before.kind = Source.Kind.COMMUNITY
    loaded_before.save()
    migration.name_the_original(apps, None)
    corrected = Source.objects.get(pk=loaded_before.pk)
    assert migration.ORIGINAL in corrected.title
    assert corrected.kind == Source.Kind.COMMUNITY
    assert corrected.is_corrected_here


def test_the_upgrade_corrects_notes_and_their_history(loaded_before):
    value = SpecValue.objects.order_by("pk").first()
    value.note = f"read in {migration.CLONE}, 2026-02"
    value.save()
    migration.name_the_original(apps, None)
    value.refresh_from_db()
    assert value.note == f"read in {migration.ORIGINAL}, 2026-02"
    assert not value.history.filter(note__contains=migration.CLONE).exists()
