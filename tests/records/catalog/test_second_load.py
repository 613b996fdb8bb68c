"""The whole catalogue loaded a second time: nothing changes, in a blink."""

import time

from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import SpecValue


def test_what_is_loaded_already_costs_one_query_and_a_blink(curated, db, django_assert_num_queries):
    with django_assert_num_queries(1):
        started = time.process_time()
        summary = load_catalogue()
    assert summary.is_unchanged
    assert time.process_time() - started < 0.2


def test_loading_the_same_files_by_force_changes_nothing(curated, db):
    summary = load_catalogue(force=True)
    assert {name: str(counts) for name, counts in summary.tables.items()} == dict.fromkeys(
        ("sources", "accelerators", "values", "names", "prices"), "unchanged"
    )


def test_unreviewed_values_keep_who_said_so_and_have_no_source(curated, db):
    value = SpecValue.objects.filter(status="unreviewed").first()
    assert value.source is None
    assert value.said_by
