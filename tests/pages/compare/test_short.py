"""Short addresses of comparisons: from names that people type to the comparison, or to what they may mean."""

import re
from itertools import pairwise

import pytest

from stackviz.pages.compare.short import resolve_names, short_address

pytestmark = [pytest.mark.usefixtures("curated"), pytest.mark.django_db]
H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"


def test_the_names_lead_to_the_comparison_in_their_order(client):
    answer = client.get("/compare/h100-sxm5-80gb-vs-m3-max-40/")
    assert answer.status_code == 301
    assert answer["Location"] == f"/compare/?a={H100}&a={M3_MAX}"
    assert client.get("/compare/m3-max-40-vs-h100-sxm5-80gb/")["Location"] == f"/compare/?a={M3_MAX}&a={H100}"


@pytest.mark.parametrize(
    "name",
    [H100, "h100-sxm5-80gb", "NVIDIA-H100-SXM5-80GB", "nvidia-h100-80gb-hbm3"],
    ids=["slug", "short", "case", "alias"],
)
def test_slugs_aliases_and_any_case_are_known(client, name):
    assert client.get(f"/compare/{name}-vs-rtx-5090/")["Location"] == f"/compare/?a={H100}&a=nvidia-geforce-rtx-5090"


def test_a_name_that_fits_several_leads_to_choices(client):
    answer = client.get("/compare/h100-sxm5-80gb-vs-m3-max/")
    assert answer.status_code == 300
    text = answer.content.decode()
    assert "fits several accelerators" in text
    links = re.findall(r'href="(/compare/[^"?]+-vs-[^"]+/)"', text)
    assert len(links) >= 2
    for link in links:
        assert client.get(link)["Location"].startswith(f"/compare/?a={H100}&a=apple-m3-max-")


@pytest.mark.parametrize("names", ["zzz-vs-h100-sxm5-80gb", "-vs-", "-", "x" * 5000, "a-vs-" * 200 + "a"])
def test_unknown_names_are_answered_with_words(client, names):
    answer = client.get(f"/compare/{names}/")
    assert answer.status_code in (300, 404)
    assert answer["X-Robots-Tag"] == "noindex"
    assert "Which accelerators?" in answer.content.decode()


def test_resolving_costs_one_query(client, django_assert_num_queries):
    resolve_names(f"{H100}-vs-{M3_MAX}")
    with django_assert_num_queries(1):
        client.get("/compare/h100-sxm5-80gb-vs-m3-max-40/")


def test_every_short_address_leads_back_to_its_sheets():
    from stackviz.records.catalog.queries import public_catalogue

    rows = public_catalogue().accelerators
    for first, second in pairwise(rows):
        names = short_address([first.slug, second.slug]).removeprefix("/compare/").rstrip("/")
        assert [[sheet.slug for sheet in name.sheets] for name in resolve_names(names)] == [[first.slug], [second.slug]]


def test_the_page_offers_the_short_address_of_sheets_only(client):
    text = client.get(f"/compare/?a={H100}&a={M3_MAX}").content.decode()
    assert 'id="share-link">http://testserver/compare/h100-sxm5-80gb-vs-m3-max-40/<' in text
    mixed = client.get(f"/compare/?a={H100}&a=stack:apple-metal").content.decode()
    assert f'id="share-link">http://testserver/compare/?a={H100}&amp;a=stack:apple-metal<' in mixed
