"""On a real PostgreSQL the list finds, orders and counts as everywhere: unknown figures last, no filter that it refuses."""

import pytest
from django.http import QueryDict
from django.test import Client

from stackviz.pages.accelerators.list_filters import facets, known_choices
from stackviz.pages.accelerators.list_query import SORTS, ListQuery, read_list_query
from stackviz.pages.accelerators.list_search import Search
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from tests.pages.accelerators.orders import assert_the_order_is_that_of_the_figures_shown

QUERIES = {
    "q=Mac15,9": ["apple-m3-max-40"],
    "q=rtx4090": ["nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-4090-d", "nvidia-geforce-rtx-4090-laptop"],
    "q=4090+24gb": ["nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-4090-d"],
    "q=m3+max&sort=-memory_bandwidth_gb_s": ["apple-m3-max-40", "apple-m3-max-30"],
    "q=h100+sxm5&supports=fp8&supports=bf16&form=sxm&architecture=Hopper&year_from=2022&year_to=2022&memory_min=80": [
        "nvidia-h100-sxm5-80gb"
    ],
    "vendor=hailo&form=sxm,pcie,oam": [],
}


@pytest.fixture
def filled(on_postgres):
    """What filters may name, with the catalogue in PostgreSQL."""
    load_catalogue()
    return known_choices(public_catalogue())


def test_postgresql_answers_as_sqlite_does(filled):
    for query, slugs in QUERIES.items():
        asked = read_list_query(QueryDict(query), filled)
        assert asked.notes == ()
        search = Search(asked)
        assert [item.slug for item in search.ordered()] == slugs, query
        assert search.counted().matching == len(slugs)
    by_name = {
        facet.name: {value: count for value, _label, count, _element in facet.choices}
        for facet in facets(Search(ListQuery()), filled)
    }
    assert by_name["vendor"]["nvidia"] > 90
    assert by_name["supports"]["bf16"] > 50
    assert sum(by_name["kind"].values()) == Accelerator.objects.count()
    for key in sorted(SORTS):
        assert_the_order_is_that_of_the_figures_shown(key)
    client = Client()
    for address in ("accelerators/?sort=-tdp_w&fields=tdp_w", "values/?sort=-amount", "sources/?q=nvidia", "fields/"):
        assert client.get(f"/api/v1/{address}").status_code == 200
