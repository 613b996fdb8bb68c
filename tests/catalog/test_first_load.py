"""The whole catalogue loaded: every line a row, and again in a blink."""

import time

from stackviz.catalog.files import read_catalogue
from stackviz.catalog.load import load_catalogue
from stackviz.catalog.models import Accelerator, Alias, Source, SpecValue


def test_every_line_of_the_files_becomes_a_row(db):
    load_catalogue()
    catalogue = read_catalogue()
    assert Accelerator.objects.count() == len(catalogue.accelerators)
    assert SpecValue.objects.count() == len(catalogue.specs)
    assert Alias.objects.count() == len(catalogue.aliases)
    assert Source.objects.count() == len([line for line in catalogue.sources if line.url])


def test_what_is_loaded_already_costs_one_query_and_a_blink(curated, db, django_assert_num_queries):
    started = time.process_time()
    with django_assert_num_queries(1):
        summary = load_catalogue()
    assert summary.is_unchanged
    assert time.process_time() - started < 0.2


def test_loading_the_same_files_by_force_changes_nothing(curated, db):
    summary = load_catalogue(force=True)
    assert str(summary).endswith("sources: unchanged; accelerators: unchanged; values: unchanged; names: unchanged")


def test_unreviewed_values_keep_who_said_so_and_have_no_source(curated, db):
    value = SpecValue.objects.filter(status="unreviewed").first()
    assert value.source is None
    assert value.said_by
