"""The change log of the whole catalogue as it is first loaded."""

import re

from stackviz.pages.accelerators.changes import PER_PAGE, Entry, LogFilter, read_log


def catalogue_load(chosen: LogFilter) -> Entry:
    """The only entry of the chosen part of the log beside the load of cited results."""
    (entry,) = [entry for entry in read_log(chosen).entries if not entry.key.startswith("cited-load-")]
    return entry


def test_the_first_load_of_cited_results_is_one_entry(cited, db):
    (entry,) = read_log(LogFilter(field="cited")).entries
    assert re.fullmatch(r"\d\d,\d{3} cited results added", entry.counts[0])
    assert (entry.load, entry.title) == (None, "The files of cited results were loaded")


def test_the_first_load_of_the_whole_catalogue_is_one_entry(curated, db):
    entry = catalogue_load(LogFilter())
    assert re.fullmatch(r"\d\d,\d{3} values added", entry.counts[0])
    assert len(read_log(LogFilter(load=entry.load)).entries) == PER_PAGE


def test_load_steps_are_counted_per_accelerator(curated, db):
    entry = catalogue_load(LogFilter(accelerator="nvidia-titan-v"))
    steps = read_log(LogFilter(accelerator="nvidia-titan-v", load=entry.load)).entries
    assert len(steps) == entry.count
    assert {step.accelerator for step in steps} == {"NVIDIA TITAN V"}


def test_unreviewed_values_of_the_files_are_not_counted(curated, db):
    from stackviz.records.catalog.models import SpecValue

    entry = catalogue_load(LogFilter())
    assert entry.counts[0] == f"{SpecValue.objects.filter(status='public').count():,} values added"
