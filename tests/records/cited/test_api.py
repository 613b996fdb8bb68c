"""`/api/v1/cited/`: filters, pages by id, one result, the benchmarks, refusals with the field."""

from html import unescape

import pytest

from stackviz.records.cited.models import CitedResult

CITED = "/api/v1/cited/"


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results."""


def test_a_result_says_who_measured_what_with_which_software(client):
    address = f"{CITED}?accelerator=nvidia-h100-sxm5-80gb&benchmark=babelstream"
    items = client.get(address).json()["items"]
    triad = next(item for item in items if item["params"]["kernel"] == "triad")
    assert (triad["value"], triad["unit"], triad["amount"], triad["si_unit"]) == ("2.97", "TB/s", 2.97e12, "B/s")
    assert triad["source"]["url"].startswith("https://github.com/")
    assert triad["software"]["cuda"] == "12.6"
    assert client.get(f"{CITED}{triad['id']}/").json() == triad


@pytest.mark.parametrize("state", ["public", "doubtful"])
def test_a_result_names_its_page(client, state):
    for item in client.get(f"{CITED}?state={state}&limit=3").json()["items"]:
        assert item["url"].startswith(f"http://testserver/benchmarks/{item['benchmark']}/")
        page = client.get(item["url"]).content.decode()
        assert item["source"]["url"] in unescape(page)


def test_pages_follow_each_other_and_cost_the_same(client, django_assert_num_queries):
    with django_assert_num_queries(2):
        page = client.get(f"{CITED}?benchmark=gemm&limit=500").json()
    seen = [item["id"] for item in page["items"]]
    while page["next"]:
        with django_assert_num_queries(2):
            page = client.get(page["next"]).json()
        seen += [item["id"] for item in page["items"]]
    assert seen == sorted(set(seen))
    assert len(seen) == CitedResult.objects.filter(benchmark="gemm", state="public").count()


@pytest.mark.parametrize("state", ["unmatched", "doubtful"])
def test_what_is_not_charted_is_listed_by_its_state(client, state):
    items = client.get(f"{CITED}?state={state}&limit=20").json()["items"]
    assert {item["state"] for item in items} == {state}
    assert all(item["reason"] for item in items) is (state == "doubtful")


def test_results_of_a_hidden_sheet_are_not_given(client):
    row = CitedResult.objects.filter(state="public").select_related("accelerator").first()
    row.accelerator.is_public = False
    row.accelerator.save()
    assert client.get(f"{CITED}?accelerator={row.accelerator.slug}").status_code == 404
    assert client.get(f"{CITED}{row.pk}/").json()["accelerator"] is None
    assert client.get(f"{CITED}?after={row.pk - 1}&limit=1").json()["items"][0]["id"] != row.pk


def test_the_benchmarks_are_listed(client):
    items = {item["key"]: item for item in client.get(f"{CITED}benchmarks/").json()["items"]}
    assert items["llama-bench"]["compared"] == ["test", "model", "quant", "depth"]
    assert items["energy-per-token"]["better"] == "lower"


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("?state=liked", 422, "state"),
        ("?benchmark=guesses", 422, "benchmark"),
        ("?accelerator=nvidia-h900", 404, "accelerator"),
        ("?limit=0", 422, "limit"),
        ("?limit=1001", 422, "limit"),
        ("?after=-1", 422, "after"),
        ("?colour=red", 422, "colour"),
        ("0/", 404, "pk"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_field(client, query, status, field):
    response = client.get(f"{CITED}{query}")
    assert (response.status_code, response.json()["field"]) == (status, field)


def test_an_answer_that_is_still_right_is_not_sent_again(client):
    first = client.get(f"{CITED}?limit=1")
    assert client.get(f"{CITED}?limit=1", headers={"if-none-match": first["ETag"]}).status_code == 304
    CitedResult.objects.first().save()
    assert client.get(f"{CITED}?limit=1", headers={"if-none-match": first["ETag"]}).status_code == 200
