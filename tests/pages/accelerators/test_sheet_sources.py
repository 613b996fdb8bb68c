"""The sources of a sheet: numbered, each listed once, with how it was read; rows chosen by their source."""

import csv
import io
import re
from datetime import date

import pytest

from stackviz.records.catalog.models import Source, SpecValue
from tests.pages.accelerators.test_sheet_page import page_of

H100 = "nvidia-h100-sxm5-80gb"


def test_each_source_is_listed_once_and_every_number_leads_to_it(curated, client, db):
    page = page_of(client, H100)
    listed = re.findall(r'<li id="s(\d+)" value="\1">', page)
    assert listed == [str(number) for number in range(1, len(listed) + 1)]
    assert set(re.findall(r'href="#s(\d+)"', page)) == set(listed)
    title = "glennklockwood.com H100 (cites NVIDIA H100 whitepaper)"
    assert page.count(f">{title}</a>") == 1


def test_a_source_says_how_and_when_it_was_read(client, bandwidth):
    assert "how it was read is not recorded" in page_of(client, "acme-one")
    source = bandwidth.source
    source.read_as, source.read_on = Source.Reading.COPY, date(2026, 11, 20)
    source.save()
    page = page_of(client, "acme-one")
    assert '<i title="a copy elsewhere was read">copy</i>' in page
    assert "a copy elsewhere was read, 2026-11-20" in page


@pytest.fixture
def second(bandwidth) -> SpecValue:
    """Another value of the card, from a page of the press that was read first-hand."""
    press = Source.objects.create(
        key="press", title="Test of the card", url="https://press.example/test", kind="press", read_as="first-hand"
    )
    return SpecValue.objects.create(
        accelerator=bandwidth.accelerator, field="tdp_w", value="300", unit="W", source=press,
        status="public", is_preferred=True,
    )  # fmt: skip


def test_rows_are_chosen_by_who_stands_behind_their_source(client, bandwidth, second):
    assert {"f-tdp_w", "f-memory_bandwidth_gb_s"} <= set(re.findall(r'id="(f-\w+)"', page_of(client, "acme-one")))
    for chosen in ("kind=press", "read_as=first-hand"):
        page = client.get(f"/accelerators/acme-one/?{chosen}").content.decode()
        assert "f-tdp_w" in page
        assert "f-memory_bandwidth_gb_s" not in page
        assert re.search(rf'href="\?{chosen}#values" +aria-current="page"', page)


def test_a_file_has_the_chosen_rows_and_how_they_were_read(client, bandwidth, second):
    def rows(query: str) -> list[dict[str, str]]:
        answer = client.get(f"/accelerators/acme-one/?format=csv{query}")
        return list(csv.DictReader(io.StringIO(answer.content.decode())))

    assert {row["field"] for row in rows("")} == {"memory_bandwidth_gb_s", "tdp_w"}
    (row,) = rows("&read_as=first-hand")
    assert (row["field"], row["source_read_as"], row["source_read_on"]) == ("tdp_w", "first-hand", "")


def test_an_unknown_kind_of_source_is_named(client, bandwidth, second):
    page = client.get("/accelerators/acme-one/?kind=rumour").content.decode()
    assert "Unknown kind of source “rumour”; it was ignored." in page
    assert client.get("/accelerators/acme-one/?format=csv&kind=rumour").status_code == 422
    assert client.get("/api/v1/sources/?read_as=hearsay").status_code == 422
    items = client.get("/api/v1/sources/?read_as=first-hand&q=press.example").json()["items"]
    assert [(item["key"], item["read_as"], item["read_on"]) for item in items] == [("press", "first-hand", None)]
