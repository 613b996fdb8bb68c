"""The whole catalogue loaded into an empty database: every line a row."""

from stackviz.records.catalog.files import read_catalogue
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator, Alias, Source, SpecValue


def test_every_line_of_the_files_becomes_a_row(db):
    load_catalogue()
    catalogue = read_catalogue()
    assert Accelerator.objects.count() == len(catalogue.accelerators)
    assert SpecValue.objects.count() == len(catalogue.specs)
    assert Alias.objects.count() == len(catalogue.aliases)
    assert Source.objects.count() == len([line for line in catalogue.sources if line.url])
