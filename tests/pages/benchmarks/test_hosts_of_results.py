"""A cited result names the public host it was measured on, wherever it is shown."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.words import result_address
from stackviz.records.hosts.models import Host

pytestmark = pytest.mark.django_db
HOST = "h100-container-2025-10"
LINK = f'<a href="/hosts/{HOST}/"'


@pytest.fixture(autouse=True)
def _loaded(cited):
    """All cited results."""


@pytest.fixture
def result() -> CitedResult:
    return CitedResult.objects.get(host__slug=HOST, params__dtype="bf16")


def ranking_address(result: CitedResult) -> str:
    return f"/benchmarks/{result.benchmark}/?case={result.params_key}"


def test_a_result_links_to_its_host(client, result):
    assert LINK in client.get(result_address(result)).content.decode()


def test_a_ranking_and_a_sheet_link_to_hosts(client, result):
    assert LINK in client.get(ranking_address(result)).content.decode()
    assert LINK in client.get(f"/benchmarks/?accelerator={result.accelerator.slug}").content.decode()


def test_results_that_are_not_ranked_link_to_hosts(client):
    slow = CitedResult.objects.get(value="9.14", params__model="Qwen 3 8B", state="doubtful")
    text = client.get(ranking_address(slow)).content.decode()
    assert '<a href="/hosts/m5-10-macbook-air-macos-26-4-2026-04/">' in text


def test_files_and_the_api_name_the_host(client, result):
    table = b"".join(client.get(ranking_address(result) + "&format=csv")).decode()
    assert f"/hosts/{HOST}/" in table
    assert client.get(f"/api/v1/cited/{result.pk}/").json()["host"] == HOST


def test_a_host_that_is_not_public_is_not_named(client, result):
    Host.objects.filter(slug=HOST).update(state="withdrawn", reason="asked for by its owner")
    assert LINK not in client.get(result_address(result)).content.decode()
    assert LINK not in client.get(ranking_address(result)).content.decode()
    assert client.get(f"/api/v1/cited/{result.pk}/").json()["host"] is None


def test_hosts_cost_a_ranking_no_query(client, result):
    client.get(ranking_address(result))  # counts the cases of this edition
    cache.clear()
    with CaptureQueriesContext(connection) as with_hosts:
        client.get(ranking_address(result))
    CitedResult.objects.filter(params_key=result.params_key).update(host=None)
    client.get(ranking_address(result))
    cache.clear()
    with CaptureQueriesContext(connection) as without_hosts:
        client.get(ranking_address(result))
    assert len(with_hosts) == len(without_hosts)
