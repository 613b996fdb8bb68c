"""What pages say to search engines as JSON-LD: of the right type, with addresses that answer, on their own address only."""

import json
import re

import pytest

from stackviz.pages.benchmarks.ranking_words import DATA_NAME
from stackviz.records.cited.models import CitedResult
from tests.pages.benchmarks.machines import H100, run
from tests.pages.machines.factories import copy

HOST = "http://testserver"


def data_of(client, path: str):
    text = client.get(path).content.decode()
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    return [json.loads(each) for each in found]


def addresses(data) -> list[str]:
    """Every address of this site in it."""
    if isinstance(data, dict):
        return [found for value in data.values() for found in addresses(value)]
    if isinstance(data, list):
        return [found for value in data for found in addresses(value)]
    return [data] if isinstance(data, str) and data.startswith(HOST) and "{" not in data else []


@pytest.fixture
def results(dgx, cited):
    """Cited results, and a machine that copied memory."""
    run(dgx.lab, "copier", H100, [copy([0.003] * 7 + [0.0031])])


PAGES = {
    "/": "WebSite",
    f"/accelerators/{H100}/": "Product",
    "/claims/": "FAQPage",
    "/causes/no-kernel-image/": "FAQPage",
    "/benchmarks/llama-bench/": "Dataset",
    "/benchmarks/memory-copy/": "Dataset",
}


@pytest.mark.parametrize(("path", "kind"), PAGES.items())
def test_a_page_says_what_it_is_with_addresses_that_answer(client, results, path, kind):
    (data,) = data_of(client, path)
    assert (data["@context"], data["@type"]) == ("https://schema.org", kind)
    for address in addresses(data):
        assert client.get(address.removeprefix(HOST)).status_code == 200, address


@pytest.mark.parametrize("path", ["/benchmarks/llama-bench/", "/benchmarks/memory-copy/"])
def test_a_benchmark_is_a_data_set_with_files_and_units(client, results, path):
    (data,) = data_of(client, path)
    assert len(data["description"]) > 50
    assert [part["encodingFormat"] for part in data["distribution"]] == ["text/csv", "application/json"]
    assert data["isPartOf"] == {"@type": "Dataset", "name": DATA_NAME, "url": f"{HOST}/data/"}
    assert {variable["unitText"] for variable in data["variableMeasured"]} & {"token/s", "B/s"}


def test_without_public_results_a_benchmark_is_no_data_set(client, curated, db, sealed):
    run(sealed.lab, "copier", H100, [copy([0.003] * 7 + [0.0031])])
    CitedResult.objects.filter(benchmark="llama-bench").update(state="doubtful", reason="for this test")
    for path in ("/benchmarks/llama-bench/", "/benchmarks/memory-copy/"):
        assert data_of(client, path) == []


@pytest.mark.parametrize(
    "path",
    ["/claims/?verdict=wrong", "/benchmarks/llama-bench/?model=Llama+2+7B", "/benchmarks/memory-copy/?measured=x"],
)
def test_a_choice_is_no_page_that_others_should_know(client, results, path):
    assert data_of(client, path) == []


def test_the_search_takes_its_template_and_data_are_cited(client, results):
    (cited,) = data_of(client, "/benchmarks/llama-bench/")
    assert cited["citation"].startswith("https://")
    assert cited["measurementTechnique"]
    (data,) = data_of(client, "/")
    address = data["potentialAction"]["target"]["urlTemplate"].format(query="conv2d")
    assert "/operators/conv2d/" in client.get(address.removeprefix(HOST)).content.decode()
