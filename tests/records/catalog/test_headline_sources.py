"""How many headline figures of the most requested accelerators rest on a vendor's document, and on two documents."""

import pytest
from django.core.management import call_command

from stackviz.records.catalog.headline import shares, sourced_cells
from stackviz.records.catalog.models import Source, SpecValue


@pytest.fixture
def maker(db) -> Source:
    return Source.objects.create(key="maker", title="Data sheet", url="https://acme.example/sheet", kind="maker")


def cell_of(value: SpecValue, field: str):
    return next(cell for cell in sourced_cells([value.accelerator.slug]) if cell.field == field)


def state(value: SpecValue, figure: str, source: Source) -> SpecValue:
    return SpecValue.objects.create(
        accelerator=value.accelerator, field=value.field, condition=value.condition, value=figure, unit=value.unit,
        source=source, status="public",
    )  # fmt: skip


def test_rounded_figure_of_another_source_counts_as_support(bandwidth, maker):
    Source.objects.filter(pk=bandwidth.source_id).update(kind="press")
    before = cell_of(bandwidth, bandwidth.field)
    assert (before.makers, before.documents, before.is_makers) == (0, 1, False)
    state(bandwidth, str(float(bandwidth.value) * 1.005), maker)
    after = cell_of(bandwidth, bandwidth.field)
    assert (after.makers, after.documents, after.is_makers) == (1, 2, False)


def test_another_figure_supports_nothing(bandwidth, maker):
    state(bandwidth, str(float(bandwidth.value) * 1.5), maker)
    assert cell_of(bandwidth, bandwidth.field).documents == 1


def test_one_document_under_two_keys_is_one(bandwidth, maker):
    again = Source.objects.create(key="again", title="The same", url=bandwidth.source.url, kind="community")
    state(bandwidth, bandwidth.value, again)
    assert cell_of(bandwidth, bandwidth.field).documents == 1


def test_shares_are_of_the_figures_that_there_are(bandwidth):
    assert next(iter(shares([]).lines())) == "0 headline figures"
    found = shares(sourced_cells([bandwidth.accelerator.slug, "nothing-of-this-name"]))
    assert (found.cells, found.by_two) == (1, 0)


def test_the_most_requested_accelerators_keep_their_sources(curated, db, capsys):
    call_command("headline_sources", "--missing")
    lines = capsys.readouterr().out.splitlines()
    by_maker, _shown, by_two = (float(line.split("%")[0]) for line in lines[1:4])
    assert by_maker >= 87
    assert by_two >= 95
    assert any(line.startswith("nvidia-") and "vendor" in line for line in lines[4:])
