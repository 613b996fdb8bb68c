"""A frozen address shows the published figures of its moment for ever, and says that it does."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from stackviz.catalog.models import CatalogueEdition, SpecValue
from stackviz.compare.views import citations
from stackviz.web.address import write_moment

URL = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"


def bandwidth(response) -> list[str]:
    lines = response.context["comparison"].sheets.rows
    (line,) = [line for line in lines if line.row.field == "memory_bandwidth_gb_s"]
    return [cell.text for cell in line.cells]


@pytest.fixture
def corrected(curated, db) -> str:
    """The moment before the bandwidth of the M3 Max was corrected."""
    before = write_moment(timezone.now())
    value = SpecValue.objects.get(accelerator__slug="apple-m3-max-40", field="memory_bandwidth_gb_s", is_preferred=True)
    value.value = "411"
    value.save()
    return before


def test_frozen_comparison_shows_its_moment(client, corrected):
    assert bandwidth(client.get(URL)) == ["3,350", "411"]
    frozen = client.get(f"{URL}&at={corrected}")
    assert bandwidth(frozen) == ["3,350", "400"]
    assert "Published figures as of" in frozen.content.decode()
    assert f'datetime="{corrected}"' in frozen.content.decode()


def test_past_comparison_is_entirely_past(client, corrected):
    frozen, now = client.get(f"{URL}&at={corrected}"), client.get(URL)
    ridge = [
        next(line for line in page.context["comparison"].sheets.rows if line.row.field == "ridge-point-fp32")
        for page in (frozen, now)
    ]
    assert ridge[0].cells[1].text != ridge[1].cells[1].text
    tiles = {tile.title: tile for tile in frozen.context["comparison"].tiles}
    assert "400 GB/s" in [line.figure for line in tiles["Memory bandwidth"].lines]
    assert not tiles.keys() & {"Decode rate", "Cited results, like for like"}


def test_citation_address_survives_corrections(client, curated, db):
    page = client.get(URL)
    address = page.context["about"].frozen
    SpecValue.objects.filter(accelerator__slug="apple-m3-max-40", field="memory_bandwidth_gb_s").first().delete()
    CatalogueEdition.renew()
    cache.clear()
    again = client.get(address)
    rows = [page.context["comparison"].sheets.rows for page in (page, again)]
    assert [line.cells for line in rows[0]] == [line.cells for line in rows[1]]
    assert again.context["about"].frozen == address


def test_machines_and_stacks_are_not_frozen(client, dgx, corrected):
    page = client.get(f"{URL}&a=machine:north/dgx-07&a=stack:apple-metal&at={write_moment(timezone.now())}")
    comparison = page.context["comparison"]
    assert [head.name for head in comparison.heads] == ["nvidia-h100-sxm5-80gb", "apple-m3-max-40"]
    assert (comparison.stacks, comparison.machines) == (None, ())
    assert page.content.decode().count("Only spec sheets have a history, machines and stacks do not") == 2


def test_frozen_address_has_spec_sheets_only(client, dgx):
    mixed = client.get("/compare/?a=machine:north/dgx-07&a=nvidia-h100-sxm5-80gb&a=stack:apple-metal")
    frozen = mixed.context["about"].frozen
    assert "machine" not in frozen
    assert "stack" not in frozen
    assert client.get(frozen).status_code == 200
    assert "{H100 SXM5 80GB}" in mixed.context["citations"][0].text
    alone = client.get("/compare/?a=machine:north/dgx-07")
    assert alone.context["comparison"].sheets.rows
    assert 'id="cite"' not in alone.content.decode()
    assert client.get("/compare/?a=machine:north/dgx-07&format=json").json()["frozen_address"] is None


def test_before_the_catalogue_nothing_shows(client, curated, db):
    page = client.get(f"{URL}&at=2020-01-01")
    assert page.status_code == 200
    assert "Nothing had been published here about these at that time." in page.content.decode()


@pytest.mark.parametrize(
    "at", ["tomorrow", "2999-01-01", "2026-02-31", "0001-01-01T00:00:00+14:00", "1" * 5000, "\x00"]
)
def test_invalid_moment_shows_the_present(client, curated, db, at):
    page = client.get(URL, {"a": ["nvidia-h100-sxm5-80gb", "apple-m3-max-40"], "at": at})
    assert page.status_code == 200
    assert "is not a past moment" in page.content.decode()


@pytest.mark.parametrize("count", [2, 5])
def test_the_past_costs_a_fixed_number_of_queries(client, curated, db, count, django_assert_num_queries):
    slugs = ["nvidia-h100-sxm5-80gb", "apple-m3-max-40", "nvidia-t4", "amd-mi300x", "nvidia-geforce-rtx-4090"][:count]
    query = "&".join(f"a={slug}" for slug in slugs)
    moment = write_moment(timezone.now() - timedelta(seconds=0))
    client.get(f"/compare/?{query}")  # what is public and the described stacks are read from now on
    # two editions; accelerators, values and sources of then
    with django_assert_num_queries(5):
        client.get(f"/compare/?{query}&at={moment}")


def test_a_citation_is_text_for_each_of_its_readers():
    moment = timezone.datetime(2026, 11, 20, 16, tzinfo=timezone.get_default_timezone())
    bibtex, plain, markdown = citations("A_100 & [B] 50 %", "https://example.org/compare/?a=a&a=b", moment)
    assert r"title = {{A\_100 \& [B] 50 \%}}" in bibtex.text
    assert bibtex.text.startswith("@misc{accelweb-a-100-b-50-20261120,")
    assert "year = {2026}" in bibtex.text
    assert "“A_100 & [B] 50 %”" in plain.text
    assert markdown.text.startswith(r"[A\_100 & \[B\] 50 %](https://example.org/compare/?a=a&a=b)")
