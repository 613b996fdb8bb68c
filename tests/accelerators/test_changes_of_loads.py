"""The change log of the whole catalogue as it is first loaded."""

import re

from stackviz.accelerators.changes import PER_PAGE, LogFilter, read_log


def test_the_first_load_of_the_whole_catalogue_is_one_entry(curated, db):
    (entry,) = read_log(LogFilter()).entries
    assert re.fullmatch(r"\d,\d{3} values added", entry.counts[0])
    assert len(read_log(LogFilter(load=entry.load)).entries) == PER_PAGE


def test_load_steps_are_counted_per_accelerator(curated, db):
    (entry,) = read_log(LogFilter(accelerator="nvidia-t4")).entries
    steps = read_log(LogFilter(accelerator="nvidia-t4", load=entry.load)).entries
    assert len(steps) == entry.count
    assert {step.accelerator for step in steps} == {"NVIDIA T4"}


def test_unreviewed_values_of_the_files_are_not_counted(curated, db):
    from stackviz.catalog.models import SpecValue

    (entry,) = read_log(LogFilter()).entries
    assert entry.counts[0] == f"{SpecValue.objects.filter(status='public').count():,} values added"
